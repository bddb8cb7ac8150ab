/* Present so that 64-bit-only system headers can be read for ILP32. */
