// Cuts a stream of Redis' protocol (RESP 2 and 3) into whole values, commands and replies alike. Node builtins only.

/** Returns a function that takes bytes and gives the values that are whole now, as bytes. */
export function createSplitter() {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const whole = [];
    for (let end = endOf(rest, 0); end > 0; end = endOf(rest, 0)) {
      whole.push(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    return whole;
  };
}

/** Where the value at `from` ends; -1 while it is not all there. */
function endOf(bytes, from) {
  const lineEnd = bytes.indexOf('\r\n', from);
  if (from >= bytes.length || lineEnd < 0) return -1;
  const type = String.fromCharCode(bytes[from]);
  const count = Number(bytes.toString('latin1', from + 1, lineEnd));
  let at = lineEnd + 2;
  switch (type) {
    case '$':
    case '=':
    case '!':
      if (count < 0) return at;
      at += count + 2;
      return at <= bytes.length ? at : -1;
    case '*':
    case '~':
    case '>':
    case '%': {
      const values = type === '%' ? 2 * count : count;
      for (let n = 0; n < values; n++) {
        at = endOf(bytes, at);
        if (at < 0) return -1;
      }
      return at;
    }
    default:
      return at;
  }
}
