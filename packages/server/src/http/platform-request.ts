/**
 * Returns a real request of the platform. The adapter's requests only look like one, and middleware
 * that copies a request, as for the limit of bodies, needs a real one.
 */
export function asThePlatformHasIt(request: Request): Request {
  const { url, method, headers, signal } = request;
  const isBodiless = method === 'GET' || method === 'HEAD';
  return new Request(url, {
    method,
    headers,
    signal,
    ...(isBodiless ? {} : { body: whenAskedFor(request), duplex: 'half' }),
  });
}

/**
 * Returns the body of a request, which is not touched before it is read. The adapter passes over an
 * unread body, so that the connection can be used again. A body whose reading was begun blocks the
 * connection until it is cut, with the next request in it.
 */
function whenAskedFor(request: Request): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        reader ??= request.body?.getReader();
        const { done = true, value } = (await reader?.read()) ?? {};
        if (value !== undefined) controller.enqueue(value);
        if (done) controller.close();
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
