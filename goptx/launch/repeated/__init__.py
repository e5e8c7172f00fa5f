"""Arguments of launches that are repeated: packed and compared again only where they changed."""
