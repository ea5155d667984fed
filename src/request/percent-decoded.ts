// Text of a URL as people read it. Never throws: what is not well encoded stays as it is.

export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
