import type { IntentRule } from './classify-intent.ts';

/** Rules for messages in English. Add words of your own tools and topics to them. */
export const englishIntents: readonly IntentRule[] = Object.freeze<IntentRule[]>([
  {
    intent: 'simple',
    when: /^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|bye|goodbye|ok(?:ay)?)\b/i,
    reason: 'it greets',
  },
  {
    intent: 'simple',
    when: ['thanks', 'thank you', 'never mind', 'how are you', 'who are you'],
    reason: 'it is small talk',
  },
  {
    intent: 'simple',
    when: /^\s*(?:what does .+ mean|explain|define|translate|rephrase|summari[sz]e)\b/i,
    reason: 'a text answers it',
  },
  {
    intent: 'tool',
    when: [
      ...['search', 'look up', 'find', 'check', 'fetch', 'download', 'open', 'read'],
      ...['book', 'order', 'buy', 'cancel', 'send', 'email', 'remind', 'schedule'],
      ...['calculate', 'compute', 'convert', 'delete', 'create', 'update', 'save'],
      ...['weather', 'today', 'tomorrow', 'now', 'latest', 'current'],
    ],
    reason: 'it asks for something that a tool does',
  },
  {
    intent: 'complex',
    when: ['step by step', 'and then', 'after that', 'once that is done', 'first of all'],
    reason: 'it names several steps',
  },
  {
    intent: 'complex',
    when: /\b(?:plan|organi[sz]e|prepare)\b.{0,40}\b(?:trip|event|project|launch|week|move)\b/is,
    reason: 'it asks for a plan',
  },
  {
    intent: 'complex',
    when: /\b(?:research|compare|investigate|analy[sz]e)\b.+\b(?:and|then)\b/is,
    reason: 'it asks for research and for something made of it',
  },
  {
    intent: 'complex',
    when: /(?:^|\n)\s*(?:1[.)]|-)\s.+\n\s*(?:2[.)]|-)\s/s,
    reason: 'it is a list of things to do',
  },
]);
