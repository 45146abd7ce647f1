"""`python -m framedex`: the command line, where its script is not on the PATH."""

from framedex.commands.main import cli

if __name__ == "__main__":
    cli()
