// Compiles programs in TypeScript that use `opentok.d.ts`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const usage = fileURLToPath(new URL('../../test-support/types/usage.ts', import.meta.url));
const declarations = fileURLToPath(new URL('../../opentok/opentok', import.meta.url));

/** Debian's package is node-typescript. */
function compile(file, options = ['--module', 'commonjs']) {
  const { status, stdout, error } = spawnSync(
    'tsc', ['--strict', '--noEmit', '--target', 'es2020', ...options, file], { encoding: 'utf8' }
  );
  if (error) throw error;
  return { status, complaints: stdout.trim() };
}

test('types: a program that uses the library as OpenTok’s compiles without an error', () => {
  assert.deepEqual(compile(usage), { status: 0, complaints: '' });
});

test('types: the compiler rejects arguments that the library does not accept', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'types-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const wrong = path.join(folder, 'wrong.ts');
  const program = readFileSync(usage, 'utf8')
    .replaceAll('@ts-expect-error', '')
    .replace("'../../opentok/opentok'", JSON.stringify(declarations));
  writeFileSync(wrong, program);
  const { status, complaints } = compile(wrong);
  assert.notEqual(status, 0);
  assert.equal(complaints.split('\n').filter((line) => line.includes('wrong.ts(')).length, 7, complaints);
});

const application = fileURLToPath(new URL('../../test-support/types/application.ts', import.meta.url));
const bundled = ['--module', 'esnext', '--moduleResolution', 'node'];

for (const options of [['--module', 'commonjs'], bundled, [...bundled, '--esModuleInterop']]) {
  test(`types: a program for OpenTok’s declarations compiles with these: ${options.join(' ')}`, () => {
    assert.deepEqual(compile(application, options), { status: 0, complaints: '' });
  });
}

test('types: the default import and types by name', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'types-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = path.join(folder, 'named.ts');
  const library = JSON.stringify(declarations);
  writeFileSync(program, `import OT, { initSession } from ${library};
    import type { Session, OTError } from ${library};
    const session: Session = OT.initSession('1', '1_x');
    const same: OT.Session = initSession('1', '1_x');
    const failed = (error?: OTError) => console.log(error?.name, same === session);
    session.signal({ data: 'x' }, failed);
    declare global { interface Window { OT: typeof OT } }
    window.OT.initSession('1', '1_x');`);
  assert.deepEqual(compile(program, [...bundled, '--esModuleInterop']), { status: 0, complaints: '' });
});

/** Compiles a program whose imports of `@opentok/client` are the library. */
function compileText(t, program, options = [...bundled, '--esModuleInterop']) {
  const folder = mkdtempSync(path.join(tmpdir(), 'types-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'program.ts');
  writeFileSync(file, program.replaceAll("'@opentok/client'", JSON.stringify(declarations)));
  return compile(file, options);
}

/** The names of the types of OpenTok's package, `<…>` for those with parameters. */
const OPENTOK_TYPES = `AudioFilter AudioOutputDevice BackgroundBlurFilter BackgroundReplacementFilter Connection Device
  Dimensions Event<'x',OT.Session> ExceptionEvent GetUserMediaProperties IceConfig IncomingTrackStats
  MediaProcessorConnector OTError OTEventEmitter<{x:1}> OutgoingTrackStats Publisher PublisherProperties
  PublisherRtcStatsReportArr PublisherRtcStatsReportContainer PublisherStatContainer PublisherStats PublisherStatsArr
  PublisherStyle ScreenSharingCapabilityResponse Session Stream Subscriber SubscriberProperties SubscriberStats
  SubscriberStyle VideoContentHint VideoDimensionsChangedEvent<OT.Publisher> VideoFilter WidgetProperties
  WidgetStyle`.split(/\s+/);
const OPENTOK_VALUES = `checkScreenSharingCapability checkSystemRequirements getActiveAudioOutputDevice
  getAudioOutputDevices getDevices getSupportedCodecs getUserMedia hasEndToEndEncryptionSupport
  hasMediaProcessorSupport initPublisher initSession log off on once registerScreenSharingExtension reportIssue
  setAudioOutputDevice setLogLevel setProxyUrl unblockAudio upgradeSystemRequirements Connection Publisher Session
  Stream Subscriber`.split(/\s+/);

test('types: every name of OpenTok’s package is a type or a value, in a module that uses the global', (t) => {
  const types = OPENTOK_TYPES.map((name, index) => `export type T${index} = OT.${name};`);
  const values = OPENTOK_VALUES.map((name) => `console.log(OT.${name});`);
  const program = ["import '@opentok/client';", ...types, ...values].join('\n');
  assert.deepEqual(compileText(t, program), { status: 0, complaints: '' });
});

test('types: plain objects, filters and mocks of a program for OpenTok', (t) => {
  const program = `import '@opentok/client';
    const connection: OT.Connection = { connectionId: 'a', creationTime: 1, data: '' };
    const error: OT.OTError = { name: 'x', message: 'y' };
    const blur: OT.VideoFilter = { type: 'backgroundBlur', blurStrength: 'high' };
    const kind = (device: OT.Device): 'audioInput' | 'videoInput' => device.kind;
    const listen = (emitter: OT.OTEventEmitter<{ destroyed: OT.Event<'destroyed', OT.Publisher> }>) =>
      emitter.on('destroyed', (event) => console.log(event.target.id));
    export async function use(session: OT.Session, publisher: OT.Publisher, connector: OT.MediaProcessorConnector) {
      session.signal({ type: 'x', to: connection }, (failure = error) => console.log(failure.message));
      session.forceDisconnect(connection, () => {});
      listen(publisher);
      await publisher.applyVideoFilter(blur);
      await publisher.setVideoMediaProcessorConnector(connector);
      for (const { rtcStatsReport, connectionId } of await publisher.getRtcStatsReport()) {
        console.log(rtcStatsReport.forEach, connectionId, kind);
      }
      // @ts-expect-error OpenTok declares no emit
      publisher.emit('accessAllowed');
    }`;
  assert.deepEqual(compileText(t, program), { status: 0, complaints: '' });
});

test('types: a program without the declarations of the DOM compiles', (t) => {
  const program = `import OT, { initSession } from '@opentok/client';
    export const name: string | undefined = initSession('1', '1_x').connection?.data;
    export const show = (target: HTMLElement): OT.Publisher => OT.initPublisher(target);`;
  const options = [...bundled, '--esModuleInterop', '--lib', 'es2020'];
  assert.deepEqual(compileText(t, program, options), { status: 0, complaints: '' });
});
