// A shared library that is no plugin.
extern "C" int something_else() { return 1; }
