"""Why plait may be trusted: program generators, and comparison with gcc and the real libc."""
