export { canonicalJson } from './base/json.ts';
export { nearestName } from './base/nearest-name.ts';
export { visibleJson, visibleLine, visibleText } from './base/visible-text.ts';
export { VisibleTextStream } from './base/visible-text-stream.ts';
