"""What an editor asks of verlint, over the Language Server Protocol."""
