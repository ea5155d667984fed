// Smaller sizes for a look while developing, or on a machine that others need: ORCRAWL_MEASURE_SHARE=0.1.
/** The share of the full size to measure, 1 unless the environment says less. */
export function measureShare(): number {
  const share = Number(process.env.ORCRAWL_MEASURE_SHARE ?? 1);
  if (share > 0 && share <= 1) return share;
  throw new Error('ORCRAWL_MEASURE_SHARE must be a number above 0, up to 1');
}
