"""What a process writes down: its clock, its names, and the files of records."""
