"""What kernels that share buffers need: their order, inputs loaded once, temporaries that need no memory."""
