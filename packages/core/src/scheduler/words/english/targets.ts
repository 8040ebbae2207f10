import type { TargetPhrases } from '../job-language.ts';

/** Words for tasks in English. */
export const targets: TargetPhrases = {
  pronouns: ['it', '(that|this) [one]'],
  current: [
    '(this|that|the|your|my) [<current>] task',
    '(this|that) [<current>] job',
    'the <current> (one|job)',
    '<current> task',
  ],
  last: ['[(the|your|my)] <newest> (one|task|job)', '(the|my) <newest> request'],
  everything: ['(everything|all|all of it|all of them|them all)', 'everything you are <doing>'],
  all: [
    '(all|each) [of] [(the|your|my|these|those)] [<state>] tasks',
    '(all|each) [of] [(the|your|these|those)] [<state>] jobs',
    '(every|each) [<state>] (task|job)',
  ],
  number: [
    '[(the|task|job)] (number|no|nr) {n}',
    '(task|job) {n}',
    'the {nth}',
    '[the] {nth} (one|task|job|item|of them)',
  ],
  bareNumber: ['{n}'],
  numbers: numbered('one two three four five six seven eight nine ten'),
  ordinals: {
    ...numbered('first second third fourth fifth sixth seventh eighth ninth tenth'),
    ...numbered('1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th'),
  },
  determiners: ['the', 'that', 'this', 'my', 'our', 'your'],
  possessives: ['my', 'our', 'your'],
  taskWords: ['task'],
  likelyTaskWords: ['job'],
  nameFollows: [
    '[(the|that|this)] (task|job|one) (called|named|about|on|regarding)',
    '(the|that|this) (task|one) for',
  ],
  workWords: words(`
    research investigation report summary digest overview analysis comparison search lookup
    translation transcription backup scan crawl download upload export import sync migration
    indexing calculation simulation benchmark`),
  subjectFollows: words('on about for of regarding into'),
  notInNames: words(`
    and or but then because since so if unless when while until till before after than as
    that which who whose where why how what not no i you we he she they it me us them
    is are was were be been will would should could can may must do does did have has had
    please instead first last later now soon today tomorrow tonight yesterday
    at by from to with without`),
  fillers: words('a an the on about for of in to into regarding with my our your s'),
};

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

function numbered(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries(words(text).map((word, index) => [word, index + 1]));
}
