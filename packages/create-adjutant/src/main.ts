/** `npm create adjutant shop` is `adjutant init shop`: the same program carries it out. */
process.argv.splice(2, 0, 'init');
await import('@adjutant/cli/main');
