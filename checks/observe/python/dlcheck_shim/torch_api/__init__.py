"""How the probe gets into torch and keeps out of the program's way: wrapping, guarding, what versions differ in."""
