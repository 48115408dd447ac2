"""What people and operators do, once for the API and the command line: reads are queries, changes are events."""
