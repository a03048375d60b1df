// On Apple's systems, Security and LocalAuthentication are the system's own; this product adds nothing to them.
