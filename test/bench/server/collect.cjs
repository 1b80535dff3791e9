// Loaded into a server whose memory is measured: SIGUSR2 has it collect its garbage, so that what is left is what it keeps.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  collect();
});
