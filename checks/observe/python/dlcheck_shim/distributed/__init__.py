"""What stands between the processes of a run."""
