"""What two recordings differ in: by functions, by lines of the program with the roads below them, and by loops."""
