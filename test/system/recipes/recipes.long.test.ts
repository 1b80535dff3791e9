/** The recipes of docs/build-tools.md for tools of Debian. Programs that we did not write check what was signed. */

import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';
import { nugetVerify } from '../interop/verifiers.ts';
import { project, recipe } from './recipe.ts';

const server = await forAll(useServer({ tsa: true }));

const PROGRAM = await readFile(fixture('pe/hello.exe'));
const ARCHIVE = await readFile(fixture('jar/plain.jar'));

it('NSIS signs the uninstaller and the installer', async () => {
  const [lines = ''] = recipe('NSIS', 'nsis');
  await using scene = await project(server, {
    'app.exe': PROGRAM,
    'setup.nsi': `${lines}
      ; A copy to check: the installer contains the uninstaller in compressed form.
      !uninstfinalize 'cp "%1" uninstaller.exe' = 0
      OutFile "setup.exe"
      InstallDir "$TEMP\\Example"
      Section
        SetOutPath $INSTDIR
        File app.exe
        WriteUninstaller "$INSTDIR\\uninstall.exe"
      SectionEnd
      Section Uninstall
        Delete "$INSTDIR\\app.exe"
      SectionEnd
    `,
  });
  await scene.run('makensis -V2 setup.nsi');
  await scene.mustBeSigned(['uninstaller.exe', 'setup.exe']);
  expect(scene.requests()).toBe(2);
});

it('CPack signs the programs, the uninstaller and the package before it computes the checksum', async () => {
  const [lists = '', programs = '', packages = ''] = recipe('CMake and CPack', 'cmake');
  await using scene = await project(server, {
    'app.exe': PROGRAM,
    'CMakeLists.txt': `cmake_minimum_required(VERSION 3.19)
      project(example VERSION 1.0 LANGUAGES NONE)
      install(PROGRAMS app.exe DESTINATION bin)
      set(CPACK_GENERATOR NSIS)
      set(CPACK_PACKAGE_FILE_NAME setup)
      set(CPACK_PACKAGE_CHECKSUM SHA256)
      ${lists}`,
    'sign-programs.cmake': programs,
    'sign-packages.cmake': packages,
  });
  await scene.run('cmake -S . -B build && cd build && cpack && sha256sum --check setup.exe.sha256');
  await scene.run('cp $(find build/_CPack_Packages -name app.exe) signed.exe');
  await scene.mustBeSigned(['signed.exe', 'build/setup.exe']);
  expect(scene.requests()).toBe(3);
});

it('wixl packs a signed program in an .msi that is signed afterwards', async () => {
  const [commands = ''] = recipe('wixl', 'sh');
  await using scene = await project(server, {
    'app.exe': PROGRAM,
    'setup.wxs': `<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
      <Product Name="Example" Id="*" UpgradeCode="b1e2a0d2-5b0c-4b36-9a0a-6d4a3bb0f2b1" Language="1033" Version="1.0.0" Manufacturer="Example">
        <Package InstallerVersion="200" Compressed="yes"/>
        <Media Id="1" Cabinet="app.cab" EmbedCab="yes"/>
        <Directory Id="TARGETDIR" Name="SourceDir"><Directory Id="INSTALLDIR" Name="Example">
          <Component Id="App" Guid="7a5b1c9e-3f5e-4bb5-8d56-2b2f0b1c9d11"><File Id="app.exe" Source="app.exe" KeyPath="yes"/></Component>
        </Directory></Directory>
        <Feature Id="All" Level="1"><ComponentRef Id="App"/></Feature>
      </Product>
    </Wix>`,
  });
  await scene.run(`${commands}
    msiextract --directory contents setup.msi`);
  await scene.mustBeSigned(['setup.msi', 'contents/Example/app.exe']);
  expect(scene.requests()).toBe(2);
});

it('nuget pack packs signed assemblies in a package that is signed afterwards', async () => {
  const nuget = process.env.CODESIGN_TEST_NUGET ?? '';
  if (nuget === '') throw new Error('CODESIGN_TEST_NUGET is not set: .ci/run installs nuget-exe and sets it');
  const [commands = ''] = recipe('nuget pack', 'sh');
  const files = {
    'lib/net45/Example.dll': PROGRAM,
    'example.nuspec':
      '<package><metadata><id>Example</id><version>1.0.0</version><authors>Example</authors><description>Example</description></metadata></package>',
  };
  await using scene = await project(server, files, { nuget: `exec mono '${nuget}' "$@"` });
  await scene.run(`${commands}
    unzip -q -d contents dist/Example.1.0.0.nupkg`);
  await scene.mustBeSigned(['contents/lib/net45/Example.dll']);
  expect(await nugetVerify(nuget, join(scene.path, 'dist/Example.1.0.0.nupkg'))).toMatchObject({ accepted: true });
  expect(scene.requests()).toBe(2);
});

it('Ant signs an archive before it computes the checksum', async () => {
  const [target = ''] = recipe('Ant', 'xml');
  await using scene = await project(server, {
    'build.xml': `<project default="sign">
      <target name="jar"><jar destfile="dist/app.jar"><fileset file="build.xml"/></jar></target>
      ${target}
    </project>`,
  });
  await scene.run('ant -q && cd dist && sha256sum --check app.jar.sha256');
  await scene.mustBeSigned(['dist/app.jar']);
  expect(scene.requests()).toBe(1);
});

it('Maven signs the archive in the phase package', async () => {
  const [plugin = ''] = recipe('Maven', 'xml');
  const central = '<id>central</id><url>file:///usr/share/maven-repo</url>';
  await using scene = await project(server, {
    'src/main/resources/example.txt': 'example',
    'pom.xml': `<project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>example</groupId><artifactId>app</artifactId><version>1.0</version>
      <repositories><repository>${central}</repository></repositories>
      <pluginRepositories><pluginRepository>${central}</pluginRepository></pluginRepositories>
      <build><plugins>${plugin}</plugins></build>
    </project>`,
  });
  await scene.run('mvn --quiet --batch-mode -Dmaven.repo.local=repository verify');
  await scene.mustBeSigned(['target/app-1.0.jar']);
  expect(scene.requests()).toBe(1);
});

it('jpackage packs a signed archive unchanged', async () => {
  const [commands = ''] = recipe('jpackage', 'sh');
  await using scene = await project(server, { 'input/app.jar': ARCHIVE });
  await mkdir(join(scene.path, 'build'));
  await scene.run(`jpackage() { command jpackage --add-modules java.base --main-class Main "$@"; }
    ${commands}
    cmp input/app.jar build/App/lib/app/app.jar`);
  await scene.mustBeSigned(['build/App/lib/app/app.jar']);
  expect(scene.requests()).toBe(1);
});
