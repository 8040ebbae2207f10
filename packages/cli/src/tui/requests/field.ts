import type { JsonObject, JsonValue } from 'adjutant';

/** One of the values that a field offers. */
export interface Choice {
  readonly label: string;
  readonly value: JsonValue;
}

/** Form of what is typed into a field of one value. */
export type TextFormat = 'date' | 'date-time' | 'email' | 'uri';

/** How a field is filled in. */
export type FieldKind =
  /** One of several values: side by side, or in a popup when there are more than five. */
  | { readonly kind: 'choice'; readonly choices: readonly Choice[]; readonly isPopup: boolean }
  /** Any number of several values. */
  | { readonly kind: 'choices'; readonly choices: readonly Choice[] }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'number'; readonly isInteger: boolean }
  | {
      readonly kind: 'text';
      readonly format?: TextFormat;
      readonly isLong: boolean;
      /** What is typed is shown as dots, and kept nowhere. */
      readonly isSecret: boolean;
    }
  /** Values of one kind, one in each line. */
  | { readonly kind: 'list'; readonly of: 'text' | 'number' | 'integer' }
  /** Anything else, as JSON. */
  | { readonly kind: 'json' };

/** Field of a form. Its texts come from the schema: they pass `visible` before they are shown. */
export type Field = FieldKind & {
  /** Names of the members that lead to the value; none: the value is the whole answer. */
  readonly path: readonly string[];
  readonly label: string;
  readonly description?: string;
  readonly isRequired: boolean;
  /** `null` is a value, too: it stands for an empty field. */
  readonly takesNull: boolean;
  readonly schema: JsonObject;
};

/** Heading above the fields of an object in the form. */
export interface Heading {
  readonly kind: 'heading';
  readonly path: readonly string[];
  readonly label: string;
  readonly description?: string;
  readonly isRequired: boolean;
}

export type FormPart = Field | Heading;

/** Form for a value that a JSON Schema describes. */
export interface Form {
  readonly parts: readonly FormPart[];
}

/** Returns the fields of a form, without its headings. */
export function fieldsOf(form: Form): Field[] {
  return form.parts.filter((part) => part.kind !== 'heading');
}

/** Returns the name under which the form keeps what was typed into a field. */
export function keyOf({ path }: Pick<FormPart, 'path'>): string {
  return JSON.stringify(path);
}
