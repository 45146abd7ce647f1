"""`python -m framedex`: the command line, for a `framedex` script that is not on the PATH."""

from framedex.commands.main import cli

if __name__ == "__main__":
    cli()
