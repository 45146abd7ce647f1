"""The texts the server looks at: what editors have open, source files on disk, and trace documents among them."""
