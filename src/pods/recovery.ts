// After a death: the files of dead writers, brought back to what their pod's store acknowledged.
// Guarantee 2: every page and item stands once, whoever died when.
import type { PodsConfig } from './config-types.js';
import { recoverContent } from '../store/content-recovery.js';
import { isOwnerGone, isVisitWriterGone } from '../store/segment-names.js';
import { recoverVisitSegments } from '../store/visit-recovery.js';
import type { OwnPod } from './pod-view.js';

export async function recoverFiles(
  config: PodsConfig,
  pod: Pick<OwnPod, 'notes'>,
  warn: (message: string) => void,
): Promise<void> {
  const notes = await pod.notes();
  const content = await recoverContent(config.dataDirs, { notes, isWriterGone: isOwnerGone, warn });
  const ofTheDead = Object.entries(notes).filter(([key]) => isVisitWriterGone(key));
  const items = await recoverVisitSegments(config.dataDirs[0]!, Object.fromEntries(ofTheDead));
  for (const { key, outcome, notedBytes } of [...content, ...items]) {
    if (outcome === 'short' || outcome === 'missing')
      warn(`${key} lost a part of its ${notedBytes} acknowledged bytes`);
    else if (outcome === 'cut') warn(`${key} was cut back to the ${notedBytes} bytes that were acknowledged`);
  }
}
