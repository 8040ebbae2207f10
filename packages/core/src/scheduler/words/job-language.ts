import type { TaskPriority } from '../priority.ts';

/**
 * Job control in one language, as data. A phrase is a pattern of lower-case words without hyphens:
 * - `[x]`: `x` may be missing; `(x|y z)`: one of them; `<now>`: one of the group `now`.
 * - `{it}`: any target; `{one}`: any but all tasks; `{task}`: one task, and no pronoun; `{tasks}`:
 *   the same, or all tasks. They stand in `commands`.
 * - `{n}` and `{nth}`: a number and an ordinal, in `targets.number` and `targets.bareNumber`.
 */
export interface JobLanguage {
  /** Words that are written as one, with a straight apostrophe: `what's` is `what is`. */
  readonly contractions: Readonly<Record<string, string>>;
  /** Parts that phrases share, each as `x|y z`. */
  readonly groups: Readonly<Record<string, string>>;
  /** Phrases that may stand before a command and say nothing about it. */
  readonly before: readonly Courtesy[];
  /** Phrases that may stand behind a command and say nothing about it. */
  readonly after: readonly Courtesy[];
  /** Verbs as they follow a courtesy with `inflects`: `pausing` is `pause`. */
  readonly inflections: Readonly<Record<string, string>>;
  /** Commands; of those that fit the first counts. */
  readonly commands: readonly CommandPhrases[];
  readonly submissions: readonly SubmissionPhrases[];
  /** Beginnings of what a person asks an assistant to do, for submissions that need one. */
  readonly requests: readonly string[];
  readonly targets: TargetPhrases;
}

/** Phrases without a meaning of their own. */
export interface Courtesy {
  readonly phrases: readonly string[];
  /** True when an order with it may end with a question mark: "could you …?" */
  readonly asks?: true;
  /** True when the verb behind it is inflected: "would you mind pausing …". */
  readonly inflects?: true;
}

/** Phrases of one command. Without a target in it, a phrase is about the current task. */
export type CommandPhrases = (
  | { readonly kind: 'list' | 'status' | 'progress' | 'cancel' | 'suspend' | 'resume' }
  | { readonly kind: 'reprioritize'; readonly priority: TaskPriority }
) & {
  readonly phrases: readonly string[];
  /**
   * True for phrases that are said in other conversations as well. They count only when the tasks
   * are known and one of them is meant.
   */
  readonly onlyOfKnownTasks?: true;
};

/**
 * Beginnings of a message that say how urgent the rest of it is. A comma, a colon or an end of
 * sentence parts them from the rest, or a courtesy with `asks`.
 */
export interface SubmissionPhrases {
  readonly priority: TaskPriority;
  readonly phrases: readonly string[];
  /** True when the rest must begin with one of `requests`. */
  readonly needsRequest?: true;
}

/** Words for tasks. */
export interface TargetPhrases {
  /** Words for the current task that may mean anything else as well: "that". */
  readonly pronouns: readonly string[];
  /** Words for the current task that mean a task: "this task". */
  readonly current: readonly string[];
  readonly last: readonly string[];
  /** Words for all tasks that may mean anything else as well: "everything". */
  readonly everything: readonly string[];
  readonly all: readonly string[];
  readonly number: readonly string[];
  /** Numbers without another word, understood for `{it}` and `{one}`: "cancel 2". */
  readonly bareNumber: readonly string[];
  readonly numbers: Readonly<Record<string, number>>;
  readonly ordinals: Readonly<Record<string, number>>;
  /** Articles and the like before a name. */
  readonly determiners: readonly string[];
  /** Determiners that speak of a thing of somebody: "my flight" is no task, but "my report" is. */
  readonly possessives: readonly string[];
  /** Words for a task behind its name: "the battery task". */
  readonly taskWords: readonly string[];
  /** The same for words with another meaning: "the cleaning job" has to be the name of a task. */
  readonly likelyTaskWords: readonly string[];
  /** Beginnings before a name: "the task about …". */
  readonly nameFollows: readonly string[];
  /** Kinds of work that hardly mean anything but a task: "the research". */
  readonly workWords: readonly string[];
  /** Words behind a kind of work before its subject: "the research on …". */
  readonly subjectFollows: readonly string[];
  /** Words that show that more than a name is said: "the research and …". */
  readonly notInNames: readonly string[];
  /** Words that do not tell one task from another. */
  readonly fillers: readonly string[];
}
