// The media type of a `Content-Type` header, to be compared.

/** `text/html` of `Text/HTML; charset=utf-8`; '' without a header. */
export function mediaTypeOf(contentType: string | null | undefined): string {
  return (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
}
