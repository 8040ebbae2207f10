/** Words with which people show a call, instead of making it. */
const example = new RegExp(
  '\\b(?:examples?|e\\.g\\.|for instance|such as|samples?|formats?|syntax|template|' +
    'looks? like|like this|how (?:to|you|a|the|it))\\b',
  'i',
);
/** Words with which people speak of what may be. */
const hypothesis = new RegExp(
  [
    '\\b(?:would|could|might|cannot|not|never|once|unless|if|earlier|previously|instead of)\\b',
    "n't\\b|\\byou (?:can|may|should|need|want|have|must)\\b|\\?",
  ].join('|'),
  'i',
);
const announcement = new RegExp(
  [
    '\\b(?:I|we) (?:will|shall|should|need to|have to|must|am going to|are going to)\\b',
    "\\b(?:I|we)'(?:ll|m going to|re going to)\\b|\\blet(?: me|'s| us)\\b",
    '\\bhere is the (?:action|call|tool call|function call)\\b|\\b(?:calling|using|running)\\b',
    '\\b(?:this|it|the (?:tool|call|result|output)) (?:will|is going to)\\b|\\bwait(?:ing)? for\\b',
  ].join('|'),
  'i',
);
const longestSentence = 300;

/** True when a text shows a call as an example: the last sentence before it, or what follows it. */
export function isExample(text: string): boolean {
  return example.test(text);
}

/** True when a sentence says that what stands beside it is done now. */
export function announces(sentence: string): boolean {
  return announcement.test(sentence) && !example.test(sentence) && !hypothesis.test(sentence);
}

export function lastSentence(text: string): string {
  return (
    plain(text.trimEnd().slice(-longestSentence))
      .split(/[.!]\s|\n/)
      .at(-1) ?? ''
  );
}

/** The beginning of a text, as long as a sentence may be. */
export function beginning(text: string): string {
  return plain(text.trimStart().slice(0, longestSentence));
}

function plain(text: string): string {
  return text.replaceAll('’', "'");
}
