import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ToolFailure } from '../../errors.ts';

export interface ResponseText {
  readonly text: string;
  /** There was more than the limit. */
  readonly truncated: boolean;
}

const textTypes =
  /^text\/|[/+](json|xml|javascript|ecmascript|yaml|x-ndjson|csv|x-www-form-urlencoded)$/;

export function contentTypeOf(response: IncomingMessage): string {
  return response.headers['content-type'] ?? '';
}

/** @throws ToolFailure when the content type is one of something else than text */
export function assertTextType(response: IncomingMessage): void {
  const [type = ''] = contentTypeOf(response).toLowerCase().split(';');
  if (type === '' || textTypes.test(type.trim())) return;
  throw notText(type);
}

function notText(type: string): ToolFailure {
  return new ToolFailure(`The content is not text but ${type || 'binary data'}.`, {
    errorType: 'unsupported_content',
    alternatives: ['Fetch a page or file with text, such as HTML, JSON, CSV or plain text.'],
  });
}

/**
 * Returns the text of a response, decompressed and decoded by its charset (UTF-8 without one).
 * Bytes beyond a limit, counted after decompression, are not read.
 * @throws ToolFailure when it is not text
 */
export async function readText(response: IncomingMessage, maxBytes: number): Promise<ResponseText> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of decompressed(response)) {
    const part = chunk as Buffer;
    parts.push(part);
    bytes += part.length;
    if (bytes > maxBytes) break;
  }
  const truncated = bytes > maxBytes;
  const body = Buffer.concat(parts).subarray(0, maxBytes);
  return { text: decode(body, contentTypeOf(response), truncated), truncated };
}

function decompressed(response: IncomingMessage): NodeJS.ReadableStream {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const ignoreError = (): void => undefined; // what fails is thrown by the iteration
  switch (encoding) {
    case 'identity':
    case '':
      return response;
    case 'gzip':
    case 'x-gzip':
      return pipeline(response, createGunzip(), ignoreError);
    case 'deflate':
      return pipeline(response, createInflate(), ignoreError);
    case 'br':
      return pipeline(response, createBrotliDecompress(), ignoreError);
    default:
      throw new ToolFailure(`The response is encoded as "${encoding}", which was not asked for.`, {
        errorType: 'unsupported_content',
      });
  }
}

function decode(body: Buffer, contentType: string, truncated: boolean): string {
  const charset = /charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  const text = decoderFor(charset).decode(body, { stream: truncated });
  if (contentType === '' && text.includes('\0')) throw notText('');
  return text;
}

function decoderFor(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset);
  } catch {
    // An unknown charset: most such pages are UTF-8.
    return new TextDecoder();
  }
}
