import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event, TransientEvent } from '../../ledger/event.ts';
import { LiveReader, LiveSender, LiveText } from './live-text.ts';

type Move = { readonly path: string } & (
  | {
      readonly kind: 'write';
      readonly stream: 'assistant_delta' | 'thought_delta';
      readonly text: string;
    }
  | { readonly kind: 'reset' | 'end' }
);

const paths = ['run/a', 'run/b'];
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      path: fc.constantFrom(...paths),
      stream: fc.constantFrom('assistant_delta' as const, 'thought_delta' as const),
      text: fc.string({ minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('reset' as const, 'end' as const),
      path: fc.constantFrom(...paths),
    }),
  },
);

/** A writer whose text is known, with the ledger that it writes beside. */
class Writer {
  readonly live = new LiveText('writer');
  readonly ledger: Event[] = [];
  readonly texts = new Map<string, string>();

  apply(made: Move): void {
    const { path } = made;
    if (made.kind === 'write') {
      const { stream, text } = made;
      this.texts.set(`${path} ${stream}`, (this.texts.get(`${path} ${stream}`) ?? '') + text);
      this.live.streamed(
        { type: stream, invocationId: path, agent: 'a', delta: text },
        this.ledger.length,
      );
      return;
    }
    for (const key of this.texts.keys()) if (key.startsWith(path)) this.texts.delete(key);
    if (made.kind === 'reset')
      this.live.streamed(
        { type: 'stream_reset', invocationId: path, agent: 'a' },
        this.ledger.length,
      );
    else {
      const event = { type: 'model_end', invocationId: path, seq: this.ledger.length + 1 } as Event;
      this.ledger.push(event);
      this.live.landed(event);
    }
  }
}

/** State of a client after the events that it gets. */
class Client {
  readonly texts = new Map<string, string>();
  #reader = new LiveReader();
  #seq = 0;

  read({ ledger }: Pick<Writer, 'ledger'>, live: LiveText, upTo = ledger.length): void {
    for (const event of ledger.slice(this.#seq, upTo)) {
      this.#seq = event.seq;
      this.#reader.passed(event);
      this.#clear((event as { invocationId: string }).invocationId);
    }
    this.#reader.arrived(live);
    for (
      let event = this.#reader.next(live, this.#seq);
      event !== undefined;
      event = this.#reader.next(live, this.#seq)
    )
      this.#take(event);
  }

  /** Loses the connection; the shown text stays until the next one changes it. */
  reconnect(): void {
    this.#reader = new LiveReader();
  }

  #take(event: TransientEvent): void {
    if (event.type === 'stream_reset') this.#clear(event.invocationId);
    else if ('delta' in event) {
      const key = `${event.invocationId} ${event.type}`;
      this.texts.set(key, (this.texts.get(key) ?? '') + event.delta);
    }
  }

  #clear(path: string): void {
    for (const key of this.texts.keys()) if (key.startsWith(path)) this.texts.delete(key);
  }
}

const plan = fc.array(
  fc.record({ move, reads: fc.boolean(), reconnects: fc.boolean(), lost: fc.boolean() }),
  { maxLength: 60 },
);

test(
  'whenever a client has read, it shows what has been written, however often it ' + 'is cut off',
  () => {
    fc.assert(
      fc.property(plan, (steps) => {
        const writer = new Writer();
        const client = new Client();
        for (const { move: made, reads, reconnects } of steps) {
          writer.apply(made);
          if (reconnects) client.reconnect();
          if (reads) client.read(writer, writer.live);
          if (reads) expect(client.texts).toEqual(writer.texts);
        }
      }),
    );
  },
);

test(
  'a client that was behind in the ledger shows what has been written as soon as ' + 'it is not',
  () => {
    fc.assert(
      fc.property(plan, (steps) => {
        const writer = new Writer();
        const client = new Client();
        for (const { move: made, reads } of steps) {
          writer.apply(made);
          client.read(
            writer,
            writer.live,
            reads ? writer.ledger.length : Math.max(0, writer.ledger.length - 1),
          );
          if (reads) expect(client.texts).toEqual(writer.texts);
        }
      }),
    );
  },
);

test('a copy in another process is made whole again after messages were lost', () => {
  fc.assert(
    fc.property(plan, (steps) => {
      const writer = new Writer();
      const sender = new LiveSender();
      const copy = new LiveText('copy');
      const client = new Client();
      const send = (lost: boolean): boolean => {
        const { parts } = sender.take(writer.live);
        return !lost && parts.map((part) => copy.received(part)).includes(true);
      };
      for (const { move: made, lost } of steps) {
        writer.apply(made);
        for (const event of writer.ledger) copy.landed(event);
        // Does the same as the following process: something is missing, so it asks for all.
        if (send(lost)) {
          sender.restart();
          send(false);
        }
      }
      sender.restart();
      send(false);
      client.read(writer, copy);
      expect(client.texts).toEqual(writer.texts);
    }),
  );
});

test('readers who keep up are given one object, and others what they lack', () => {
  const live = new LiveText('writer');
  const [first, second, late] = [new LiveReader(), new LiveReader(), new LiveReader()];
  for (const reader of [first, second, late])
    reader.passed({ type: 'model_start', invocationId: 'run', seq: 1 } as Event);
  const write = (delta: string) =>
    live.streamed({ type: 'assistant_delta', invocationId: 'run', agent: 'a', delta }, 1);
  write('one ');
  const given = first.next(live, 1);
  expect(second.next(live, 1)).toBe(given);
  write('two ');
  expect(late.next(live, 1)).toMatchObject({ delta: 'one two ' });
  expect(first.next(live, 1)).toMatchObject({ delta: 'two ' });
  expect(second.next(live, 1)).toMatchObject({ delta: 'two ' });
  expect(given).toMatchObject({ delta: 'one ' });
});

test(
  'a client that comes to another process before that has heard of the answer ' + 'shows it once',
  () => {
    fc.assert(
      fc.property(plan, (steps) => {
        const writer = new Writer();
        const client = new Client();
        for (const { move: made, reads } of steps) {
          writer.apply(made);
          if (reads) client.read(writer, writer.live);
        }
        client.reconnect();
        const copy = new LiveText('copy');
        client.read(writer, copy);
        for (const part of new LiveSender().take(writer.live).parts) copy.received(part);
        client.read(writer, copy);
        expect(client.texts).toEqual(writer.texts);
      }),
    );
  },
);

test('a part that comes after the end of its answer is not given to those who come later', () => {
  const live = new LiveText('there');
  const head = { type: 'assistant_delta', invocationId: 'run', agent: 'a', delta: '' } as const;
  const part = {
    invocationId: 'run',
    agent: 'a',
    isReset: false,
    stream: 'assistant_delta',
    head,
    offset: 0,
  };
  live.landed({ type: 'model_end', invocationId: 'run', seq: 9 } as Event);
  expect(live.received({ ...part, generation: 'here.1', after: 5, text: 'Old' })).toBe(false);
  const reader = new LiveReader();
  reader.arrived(live);
  expect(reader.next(live, 12)).toBeUndefined();
  live.received({ ...part, generation: 'here.2', after: 9, text: 'New' });
  expect([reader.next(live, 12), reader.next(live, 12)]).toMatchObject([
    { type: 'stream_reset' },
    { delta: 'New' },
  ]);
});
