"""Where patched code is shut in: layers behind one interface, and the probes that show they hold."""
