"""What a TAB behind framedex offers in bash, zsh and fish, and how shells come to ask."""
