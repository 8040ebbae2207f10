import type { TaskPriority } from '../priority.ts';
import type { CommandPhrases, Courtesy, JobLanguage, TargetPhrases } from './job-language.ts';
import { firstWords, lastWords, type Phrase, readPhrase } from './phrase.ts';

/** A language with its phrases read. */
export interface CompiledLanguage {
  readonly language: JobLanguage;
  readonly before: readonly CompiledCourtesy[];
  readonly after: readonly CompiledCourtesy[];
  readonly commands: readonly CompiledCommand[];
  readonly submissions: readonly CompiledSubmission[];
  readonly requests: readonly Phrase[];
  readonly targets: CompiledTargets;
}

export interface CompiledCourtesy extends Courtesy {
  readonly phrase: Phrase;
}

export interface CompiledCommand {
  readonly command: CommandPhrases;
  readonly phrase: Phrase;
  /** Words at its edges, `undefined` for any word. They spare most phrases a closer look. */
  readonly first: ReadonlySet<string> | undefined;
  readonly last: ReadonlySet<string> | undefined;
}

export interface CompiledSubmission {
  readonly priority: TaskPriority;
  readonly needsRequest: boolean;
  readonly phrase: Phrase;
}

export interface CompiledTargets {
  readonly pronouns: readonly Phrase[];
  readonly current: readonly Phrase[];
  readonly last: readonly Phrase[];
  readonly everything: readonly Phrase[];
  readonly all: readonly Phrase[];
  readonly number: readonly Phrase[];
  readonly bareNumber: readonly Phrase[];
  readonly nameFollows: readonly Phrase[];
  readonly determiners: ReadonlySet<string>;
  readonly possessives: ReadonlySet<string>;
  readonly taskWords: ReadonlySet<string>;
  readonly likelyTaskWords: ReadonlySet<string>;
  readonly workWords: ReadonlySet<string>;
  readonly subjectFollows: ReadonlySet<string>;
  readonly notInNames: ReadonlySet<string>;
}

const compiled = new WeakMap<JobLanguage, CompiledLanguage>();

/** Reads the phrases of a language when it is used first. */
export function compiledLanguage(language: JobLanguage): CompiledLanguage {
  const known = compiled.get(language);
  if (known !== undefined) return known;
  const made = compile(language);
  compiled.set(language, made);
  return made;
}

function compile(language: JobLanguage): CompiledLanguage {
  const read = (source: string) => readPhrase(source, language.groups);
  const courtesies = (list: readonly Courtesy[]) =>
    list.flatMap((courtesy) =>
      courtesy.phrases.map((source) => ({ ...courtesy, phrase: read(source) })),
    );
  return {
    language,
    before: courtesies(language.before),
    after: courtesies(language.after),
    commands: language.commands.flatMap((command) =>
      command.phrases.map((source) => {
        const phrase = read(source);
        return { command, phrase, first: firstWords(phrase), last: lastWords(phrase) };
      }),
    ),
    submissions: language.submissions.flatMap(({ priority, needsRequest = false, phrases }) =>
      phrases.map((source) => ({ priority, needsRequest, phrase: read(source) })),
    ),
    requests: language.requests.map(read),
    targets: compileTargets(language.targets, read),
  };
}

function compileTargets(targets: TargetPhrases, read: (source: string) => Phrase): CompiledTargets {
  return {
    pronouns: targets.pronouns.map(read),
    current: targets.current.map(read),
    last: targets.last.map(read),
    everything: targets.everything.map(read),
    all: targets.all.map(read),
    number: targets.number.map(read),
    bareNumber: targets.bareNumber.map(read),
    nameFollows: targets.nameFollows.map(read),
    determiners: new Set(targets.determiners),
    possessives: new Set(targets.possessives),
    taskWords: new Set(targets.taskWords),
    likelyTaskWords: new Set(targets.likelyTaskWords),
    workWords: new Set(targets.workWords),
    subjectFollows: new Set(targets.subjectFollows),
    notInNames: new Set(targets.notInNames),
  };
}
