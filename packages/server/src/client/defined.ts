/** `Fields` with every member that may be `undefined` as a member that may be missing. */
type Defined<Fields> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<
    Fields[Key],
    undefined
  >;
} extends infer Result
  ? { [Key in keyof Result]: Result[Key] }
  : never;

/**
 * The members of `fields` that are not `undefined`. The helper of the same name in `adjutant/text`
 * is out of reach here: the client runs in pages, and imports only types of other packages.
 */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const result: Record<string, unknown> = {};
  for (const key in fields) if (fields[key] !== undefined) result[key] = fields[key];
  return result as Defined<Fields>;
}
