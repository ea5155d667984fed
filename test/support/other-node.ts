// Another release of Node, for tests of what needs it.
// @ts-expect-error scripts have no types
import { nodeRelease } from '../../scripts/node-release.mjs';

/** Its program, or why there is none: a reason to skip. */
export async function otherNode(major: number): Promise<string | Error> {
  try {
    return await (nodeRelease as (major: number) => Promise<string>)(major);
  } catch (error) {
    return new Error(`Node ${major} cannot be installed here: ${(error as Error).message.split('\n')[0]}`);
  }
}
