export { defined } from './base/defined.ts';
export { canonicalJson } from './base/json.ts';
export { nearestName } from './base/nearest-name.ts';
export { visibleJson, visibleLine, visibleText } from './base/text/visible-text.ts';
export { VisibleTextStream } from './base/text/visible-text-stream.ts';
export { isLane as laneProblem } from './ledger/folds/lanes.ts';
