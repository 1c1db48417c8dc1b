"""Eight faulty programs, six healthy ones, and three arms that give a verdict on each."""
