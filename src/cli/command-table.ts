import { type ArgumentDefinition, command, type ProgramDefinition } from './command.ts';
import { NOTES } from './command-notes.ts';

const FILES: ArgumentDefinition = {
  name: 'files...',
  help: 'paths, patterns ("dist/*.exe"), @list.txt for a list in a file, or - for a list on standard input',
  offers: 'paths',
};
const FILE_TO_READ: ArgumentDefinition = {
  name: 'file',
  help: 'path of the file; the file is not changed',
  offers: 'paths',
};

export const PROGRAM: ProgramDefinition = {
  name: 'codesign-remote',
  description: 'Signs code with a key in a remote HSM: only a digest leaves this machine.',
  versionHelp: 'show the version',
  helpHelp: 'show this help',
  notes: NOTES.program,
  commands: [
    command({
      name: 'sign',
      description: 'sign files in place, or write signed copies to the path in --output',
      arguments: [FILES],
      run: async (io, options, [files]: [readonly string[]]) =>
        (await import('./commands/sign.ts')).sign(files, options, io),
    }),
    command({
      name: 'catalog',
      description: 'create an unsigned security catalog that lists files of any type',
      arguments: [FILES],
      run: async (io, options, [files]: [readonly string[]]) =>
        (await import('./commands/catalog.ts')).catalog(files, options, io),
    }),
    command({
      name: 'verify',
      description: 'check the integrity, signer, certificate chain and timestamp of signed files',
      arguments: [FILES],
      run: async (io, options, [files]: [readonly string[]]) =>
        (await import('./commands/verify.ts')).verify(files, options, io),
    }),
    command({
      name: 'timestamp',
      description: 'add timestamps to signed files',
      arguments: [FILES],
      run: async (io, options, [files]: [readonly string[]]) =>
        (await import('./commands/changes.ts')).timestamp(files, options, io),
    }),
    command({
      name: 'remove',
      description: 'remove all signatures from files',
      arguments: [FILES],
      run: async (io, options, [files]: [readonly string[]]) =>
        (await import('./commands/changes.ts')).remove(files, options, io),
    }),
    command({
      name: 'attach',
      description: 'embed an existing signature in the file for which it was made',
      arguments: [
        { name: 'file', help: 'path of the file', offers: 'paths' },
        {
          name: 'signature',
          help: 'path of the CMS signature (PKCS#7, in DER or PEM), or - for standard input',
          offers: 'paths',
        },
      ],
      run: async (io, options, [file, signature]: [string, string]) =>
        (await import('./commands/changes.ts')).attach(file, signature, options, io),
    }),
    command({
      name: 'inspect',
      description: 'show the signatures of a file',
      arguments: [FILE_TO_READ],
      run: async (io, options, [file]: [string]) => (await import('./commands/inspect.ts')).inspect(file, options, io),
    }),
    command({
      name: 'extract',
      description: 'extract a signature from a file as CMS (PKCS#7)',
      arguments: [FILE_TO_READ],
      run: async (io, options, [file]: [string]) => (await import('./commands/inspect.ts')).extract(file, options, io),
    }),
    command({
      name: 'resume',
      description: 'finish interrupted `sign` runs: write the signed files, and report the outcomes to the service',
      run: async (io, options) => (await import('./commands/resume.ts')).resume(options, io),
    }),
    command({
      name: 'history',
      description: 'list the signatures requested from the service, with totals by month and certificate',
      run: async (io, options) => (await import('./commands/history.ts')).history(options, io),
    }),
    command({
      name: 'init',
      description: 'prompt for the settings that signing needs, check them, and store them in your profile',
      run: async (io, options) => (await import('./commands/init.ts')).init(options, io),
    }),
    command({
      name: 'doctor',
      description: 'check the settings, the certificate, the service, the timestamp authorities and this machine',
      run: async (io, options) => (await import('./commands/doctor.ts')).doctor(options, io),
    }),
    command({
      name: 'login',
      description: "store credentials for a signing service in the operating system's keychain, or in a file",
      run: async (io, options) => (await import('./commands/credentials.ts')).login(options, io),
    }),
    command({
      name: 'logout',
      description: 'remove the credentials that `login` has stored',
      run: async (io, options) => (await import('./commands/credentials.ts')).logout(options, io),
    }),
    command({
      name: 'whoami',
      description: 'show which credentials `sign` would use, and where they come from',
      run: async (io, options) => (await import('./commands/credentials.ts')).whoami(options, io),
    }),
    {
      name: 'config',
      description: 'show the effective settings, and change the settings in your profiles',
      notes: NOTES.config,
      commands: [
        command({
          name: 'config list',
          description: 'list the effective settings',
          run: async (io, options) => (await import('./commands/config.ts')).configList(options, io),
        }),
        command({
          name: 'config set',
          description: 'store a setting in the profile, or remove a stored setting',
          arguments: [
            {
              name: 'key',
              help: 'name of the setting, such as `algorithm` or `environments.alternate`',
              offers: 'keys',
            },
            {
              name: 'values...',
              isOptional: true,
              help: 'new value (`certificate`, `timestampUrl` and `extra` accept several); omit it to remove the setting',
              offers: 'nothing',
            },
          ],
          run: async (io, options, [key, values]: [string, readonly string[]]) =>
            (await import('./commands/config.ts')).configSet(key, values, options, io),
        }),
        command({
          name: 'config profiles',
          description: 'print the names of the profiles, one per line',
          run: async (io) => (await import('./commands/config.ts')).configProfiles(io),
        }),
        command({
          name: 'config remove-profile',
          description: 'remove a profile and its settings; its credentials stay stored until you run `logout`',
          arguments: [{ name: 'name', help: 'name of the profile', offers: 'profiles' }],
          run: async (io, _options, [name]: [string]) =>
            (await import('./commands/config.ts')).configRemoveProfile(name, io),
        }),
      ],
    },
    command({
      name: 'explain',
      description: 'show the cause, remedy and exit code of an error',
      arguments: [
        { name: 'code', help: 'error code, as shown in brackets at the end of error messages', offers: 'codes' },
      ],
      run: async (io, _options, [code]: [string]) => (await import('./commands/explain.ts')).explain(code, io),
    }),
    command({
      name: 'completion',
      description: 'print a script that enables tab completion in a shell',
      arguments: [{ name: 'shell', help: 'name of the shell', offers: ['bash', 'zsh', 'fish', 'powershell'] }],
      run: async (io, _options, [shell]: ['bash' | 'zsh' | 'fish' | 'powershell']) =>
        (await import('./completion/scripts.ts')).completion(shell, io),
    }),
    command({
      name: 'man',
      description: 'print the manual page',
      run: async (io) => (await import('./commands/explain.ts')).printManual(io),
    }),
  ],
};
