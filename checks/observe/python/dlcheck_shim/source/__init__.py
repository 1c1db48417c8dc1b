"""What is read from the source of a program, as its run ends: syntax trees alone, no tensor and no line that runs again."""
