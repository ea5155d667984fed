// The handler of the suite's pods.
import { visit } from './visit.mjs';

export default visit;
