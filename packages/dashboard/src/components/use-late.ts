import { useEffect, useState } from 'react';

/** Returns a value once it has not changed for a while: text that is still typed asks nobody. */
export function useLate<Value>(value: Value, afterMs = 250): Value {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return late;
}
