import assert from 'node:assert/strict';
import test from 'node:test';
import { settled } from '../../test-support/fakes/fake-browser.js';
import { FakeCamera, FakeTrack } from '../../test-support/fakes/fake-camera.js';
import { joined, page } from '../../test-support/fakes/fake-page.js';

const stream = { streamId: 's', connection: { connectionId: 'ada-id' } };

function withCamera(kinds) {
  const all = page();
  all.camera = all.browser.mediaDevices = new FakeCamera(kinds);
  return all;
}

/** A publisher with a listener for each event of its start. */
function listened(OT, properties) {
  const heard = [];
  const handler = (error) => heard.push(`handler ${error ? `${error.name} ${error.code}` : error}`);
  const publisher = OT.initPublisher('target', properties, handler);
  const names = ['accessAllowed', 'accessDenied', 'accessDialogOpened', 'accessDialogClosed', 'loaded', 'destroyed'];
  for (const name of names) publisher.on(name, () => heard.push(name));
  return { heard, publisher };
}

function outcomes() {
  const received = [];
  return { received, note: (error) => received.push([error.name, error.code]) };
}

test('media: initPublisher without a camera in the browser ends in an error and an exception, later', async () => {
  const { OT, exceptions, browser } = page();
  const { received, note } = outcomes();
  const publisher = OT.initPublisher('target', { insertMode: 'append' }, note);
  assert.deepEqual(received, []);
  assert.equal(publisher.on('streamCreated', () => assert.fail('called')), publisher);
  assert.ok(publisher instanceof OT.Publisher);
  await settled();
  OT.initPublisher(note);
  OT.initPublisher('target', note);
  OT.initPublisher(undefined, undefined, note);
  await settled();
  assert.deepEqual(received, Array(4).fill(['OT_NOT_SUPPORTED', 1500]));
  assert.equal(exceptions.length, 4);
  assert.deepEqual(browser.printed, []);
  OT.initPublisher();
  await settled();
  assert.match(browser.printed[0][1], /needs a page with https/, 'without a handler the log has the error');
});

test('camera: initPublisher emits accessAllowed, and then its handler is called without an error', async () => {
  const { OT, browser, exceptions, camera } = withCamera();
  const { heard, publisher } = listened(OT, {});
  await settled();
  assert.deepEqual(heard, []);
  camera.grant();
  await settled();
  browser.pass(60_000);
  assert.deepEqual(heard, ['accessAllowed', 'handler undefined', 'loaded']);
  assert.deepEqual([publisher.accessAllowed, publisher.stream, publisher.session], [true, null, null]);
  assert.equal(publisher.getAudioSource(), camera.streams[0].getAudioTracks()[0]);
  assert.deepEqual(publisher.getVideoSource(), {
    deviceId: 'video-id', type: 'camera', track: camera.streams[0].getVideoTracks()[0],
  });
  assert.equal(OT.publishers.get(publisher.guid()), publisher);
  assert.deepEqual(exceptions, []);
});

test('camera: while the browser asks the user the dialog is open', async () => {
  const { OT, browser, camera } = withCamera();
  const { heard } = listened(OT, {});
  await settled();
  browser.pass(499);
  assert.deepEqual(heard, []);
  browser.pass(1);
  assert.deepEqual(heard, ['accessDialogOpened']);
  camera.grant();
  await settled();
  assert.deepEqual(heard.slice(1), ['accessDialogClosed', 'accessAllowed', 'handler undefined', 'loaded']);
});

test('camera: a user who refuses: the handler gets the error, then accessDenied, and no exception', async () => {
  const { OT, browser, camera, exceptions } = withCamera();
  const { heard, publisher } = listened(OT, {});
  await settled();
  browser.pass(500);
  camera.refuse('NotAllowedError');
  await settled();
  assert.deepEqual(
    heard,
    ['accessDialogOpened', 'accessDialogClosed', 'handler OT_USER_MEDIA_ACCESS_DENIED 1500', 'accessDenied'],
  );
  assert.deepEqual([publisher.accessAllowed, exceptions], [false, []]);
});

for (const [refused, name] of [
  ['NotFoundError', 'OT_NO_DEVICES_FOUND'],
  ['NotReadableError', 'OT_HARDWARE_UNAVAILABLE'],
  ['AbortError', 'OT_HARDWARE_UNAVAILABLE'],
  ['TypeError', 'OT_NO_VALID_CONSTRAINTS'],
  ['OverconstrainedError', 'OT_CONSTRAINTS_NOT_SATISFIED'],
  ['Strange', 'OT_UNABLE_TO_CAPTURE_MEDIA'],
]) {
  test(`camera: the browser’s ${refused} is ${name}, with an exception "GetUserMedia" before it`, async () => {
    const { OT, camera } = withCamera();
    const order = [];
    OT.on('exception', ({ code, title, message, target, error }) => order.push([code, title, message, target, error]));
    const publisher = OT.initPublisher('target', {}, (error) => order.push(error));
    publisher.on('accessDenied', () => assert.fail('denied'));
    await settled();
    camera.refuse(refused);
    await settled();
    assert.deepEqual([order[1].name, order[1].code], [name, 1500]);
    assert.deepEqual(order[0], [1500, 'Unable to Publish', 'GetUserMedia', publisher, order[1]]);
  });
}

test('camera: without a camera and a microphone there is no question; with one of them it is asked for', async () => {
  for (const [kinds, expected] of [
    [['audiooutput'], []],
    [['audioinput'], [[true, false]]],
    [['videoinput'], [[false, true]]],
  ]) {
    const { OT, camera } = withCamera(kinds);
    const { heard } = listened(OT, {});
    await settled();
    assert.deepEqual(camera.asked.map(({ audio, video }) => [Boolean(audio), Boolean(video)]), expected);
    assert.deepEqual(heard, expected.length === 0 ? ['handler OT_NO_DEVICES_FOUND 1500'] : []);
  }
});

test('camera: properties of the publisher are the browser’s constraints', async () => {
  const { OT, camera } = withCamera();
  const asked = async (properties) => {
    OT.initPublisher('target', properties, () => {});
    await settled();
    return camera.asked.at(-1);
  };
  const size = (width, height, frameRate) => ({
    width: { ideal: width }, height: { ideal: height }, frameRate: { ideal: frameRate },
  });
  assert.deepEqual(await asked(undefined), { audio: true, video: size(640, 480, 30) });
  assert.deepEqual(await asked({ audioSource: null, resolution: '1280x720', frameRate: 15, videoSource: 'cam' }), {
    audio: false, video: { ...size(1280, 720, 15), deviceId: { exact: 'cam' } },
  });
  assert.deepEqual(await asked({ videoSource: false, audioSource: 'mic', echoCancellation: false }), {
    audio: { deviceId: { exact: 'mic' }, echoCancellation: false }, video: false,
  });
  assert.deepEqual((await asked({ facingMode: 'environment', disableAudioProcessing: true })), {
    audio: { autoGainControl: false, echoCancellation: false, noiseSuppression: false },
    video: { ...size(640, 480, 30), facingMode: { ideal: 'environment' } },
  });
  const track = new FakeTrack('audio');
  assert.equal((await asked({ audioSource: track })).audio, false);
});

test('camera: a screen is refused, and so is a publisher without audio and video', async () => {
  const { OT, camera } = withCamera();
  const { received, note } = outcomes();
  OT.initPublisher('target', { videoSource: 'screen' }, note);
  OT.initPublisher('target', { videoSource: null, audioSource: null }, note);
  await settled();
  assert.deepEqual(received, [['OT_SCREEN_SHARING_NOT_SUPPORTED', 1500], ['OT_NO_VALID_CONSTRAINTS', 1500]]);
  assert.deepEqual(camera.asked, []);
});

test('camera: publishAudio and publishVideo switch the tracks, also before the camera is there', async () => {
  const { OT, camera } = withCamera();
  const publisher = OT.initPublisher('target', { publishVideo: false }).publishAudio(false);
  await settled();
  camera.grant();
  await settled();
  const enabled = () => camera.streams[0].getTracks().map((track) => track.enabled);
  assert.deepEqual(enabled(), [false, false]);
  publisher.publishVideo(true).publishAudio(true);
  assert.deepEqual(enabled(), [true, true]);
});

test('camera: destroy stops the camera, before and after the user answered', async () => {
  const { OT, camera } = withCamera();
  const before = listened(OT, {});
  await settled();
  before.publisher.destroy();
  camera.grant();
  await settled();
  assert.deepEqual(before.heard, ['destroyed']);
  assert.deepEqual(camera.streams[0].getTracks().map((track) => track.isStopped), [true, true]);
  const after = listened(OT, {});
  await settled();
  camera.grant();
  await settled();
  after.publisher.destroy();
  assert.deepEqual(after.heard.slice(-2), ['loaded', 'destroyed']);
  assert.deepEqual(camera.streams[1].getTracks().map((track) => track.isStopped), [true, true]);
  assert.equal(OT.publishers.length(), 0);
});

test('camera: with publish=fail session.publish is what fails, and the camera stays on', async () => {
  const { OT, session, browser, exceptions } = joined({ publish: 'fail' });
  browser.mediaDevices = new FakeCamera();
  const publisher = OT.initPublisher('target', {}, () => {});
  await settled();
  browser.mediaDevices.grant();
  await settled();
  const { received, note } = outcomes();
  session.publish(publisher, note);
  session.publish('target', {}, note);
  await settled();
  assert.deepEqual(received, Array(2).fill(['OT_NOT_SUPPORTED', 1500]));
  assert.deepEqual(browser.mediaDevices.streams[0].getTracks().map((track) => track.isStopped), [false, false]);
  assert.equal(browser.mediaDevices.asked.length, 1, 'publish does not ask for a camera');
  assert.deepEqual(exceptions, []);
});

test('camera: OT.getUserMedia captures like initPublisher, and getDevices lists the inputs', async () => {
  const { OT, camera } = withCamera();
  const captured = OT.getUserMedia({ videoSource: null });
  await settled();
  camera.grant();
  assert.equal(await captured, camera.streams[0]);
  assert.deepEqual(camera.asked, [{ audio: true, video: false }]);
  const devices = await new Promise((resolve) => OT.getDevices((error, list) => resolve([error, list])));
  assert.deepEqual(devices, [undefined, [
    { deviceId: 'id0', kind: 'audioInput', label: 'label0' }, { deviceId: 'id1', kind: 'videoInput', label: 'label1' },
  ]]);
});

test('media: publish and subscribe return what they do in OpenTok, and with publish=fail end in an error', async () => {
  const { OT, session, exceptions, browser } = joined({ publish: 'fail' });
  const { received, note } = outcomes();
  browser.mediaDevices = new FakeCamera();
  const publisher = OT.initPublisher('target');
  assert.equal(session.publish(publisher, note), publisher);
  assert.ok(session.publish('target', {}, note) instanceof OT.Publisher);
  const subscriber = session.subscribe(stream, 'target', {}, note);
  assert.ok(subscriber instanceof OT.Subscriber);
  assert.equal(subscriber.stream, stream);
  assert.deepEqual(received, []);
  await settled();
  assert.deepEqual(received, [['OT_NOT_SUPPORTED', 1500], ['OT_NOT_SUPPORTED', 1500], ['OT_NOT_SUPPORTED', 1501]]);
  assert.deepEqual(exceptions, []);
  assert.equal(browser.socket.sent.length, 1, 'nothing but connect was sent');
  assert.deepEqual(browser.printed, []);
});

test('media: publish and subscribe that fail without a handler log a warning', () => {
  const { session, browser } = joined({ publish: 'fail' });
  session.publish();
  session.subscribe(stream);
  assert.deepEqual(browser.printed.map(([level]) => level), ['warn', 'warn']);
});

test('media: unpublish, unsubscribe and the queries for streams find nothing and change nothing', () => {
  const { OT, session } = joined();
  assert.equal(session.unpublish(OT.initPublisher()), undefined);
  session.unsubscribe(session.subscribe(stream, () => {}));
  assert.deepEqual(session.getSubscribersForStream(stream), []);
  assert.equal(session.getPublisherForStream(stream), undefined);
  assert.deepEqual([session.streams.length(), session.archives.length(), OT.subscribers.length()], [0, 0, 0]);
});

test('media: forceUnpublish is refused with 1530, forceMuteStream and forceMuteAll with 1540', async () => {
  const { session } = joined();
  const { received, note } = outcomes();
  session.forceUnpublish(stream, note);
  await settled();
  await session.forceMuteStream(stream).catch(note);
  await session.forceMuteAll([]).catch(note);
  await session.disableForceMute().catch(note);
  const mute = ['OT_NOT_SUPPORTED', 1540];
  assert.deepEqual(received, [['OT_NOT_SUPPORTED', 1530], mute, mute, mute]);
});

test('media: a publisher can be switched, styled, queried and destroyed', async () => {
  const { OT } = page();
  const publisher = OT.initPublisher();
  const destroyed = [];
  publisher.on('destroyed', (event) => destroyed.push(event.target));
  publisher.publishAudio(false);
  publisher.publishVideo(true);
  publisher.setStyle('nameDisplayMode', 'on').setStyle({ backgroundImageURI: 'off' });
  assert.deepEqual(publisher.getStyle(), { nameDisplayMode: 'on', backgroundImageURI: 'off' });
  assert.deepEqual([publisher.stream, publisher.session, publisher.accessAllowed], [null, null, false]);
  assert.deepEqual(
    [publisher.getImgData(), publisher.videoWidth(), publisher.getAudioSource()], [null, undefined, null]
  );
  const { received, note } = outcomes();
  publisher.getStats(note);
  await publisher.cycleVideo().catch(note);
  assert.deepEqual(received, Array(2).fill(['OT_NOT_SUPPORTED', 1500]));
  assert.equal(OT.publishers.get(publisher.guid()), publisher);
  publisher.destroy().destroy();
  assert.deepEqual(destroyed, [publisher]);
  assert.equal(OT.publishers.length(), 0);
});

test('media: a subscriber has every method of OpenTok’s', async () => {
  const { session } = joined();
  const subscriber = session.subscribe(stream, () => {});
  subscriber.subscribeToAudio(false).subscribeToVideo(false).setAudioVolume(50).restrictFrameRate(true).setStyle(
    'a', 'b'
  ).destroy();
  assert.deepEqual([subscriber.getAudioVolume(), subscriber.isAudioBlocked(), subscriber.streamId], [0, false, 's']);
  await assert.rejects(subscriber.getRtcStatsReport(), { name: 'OT_NOT_SUPPORTED' });
});

test('media: the calls of OT about devices and screens return nothing', async () => {
  const { OT, browser } = page();
  const answers = [];
  OT.getDevices((error, devices) => answers.push([error, devices]));
  OT.checkScreenSharingCapability((answer) => answers.push(answer.supported));
  OT.reportIssue((error) => answers.push(error.name));
  assert.deepEqual(answers, []);
  await settled();
  assert.deepEqual(answers, [[undefined, []], false, 'OT_NOT_SUPPORTED']);
  await assert.rejects(OT.getUserMedia({}), { name: 'OT_NOT_SUPPORTED', code: 1500 });
  assert.deepEqual(await OT.getSupportedCodecs(), { videoEncoders: [], videoDecoders: [] });
  assert.deepEqual(await OT.getAudioOutputDevices(), []);
  await OT.unblockAudio();
  assert.equal(OT.hasMediaProcessorSupport(), false);
  OT.registerScreenSharingExtension('chrome', 'id', 2);
  OT.upgradeSystemRequirements();
  assert.deepEqual(browser.printed, []);
});

test('media: a handler that throws is logged, and changes nothing else', async () => {
  const { OT, session, browser } = joined();
  OT.initPublisher(() => { throw new Error('alert is not defined'); });
  await settled();
  session.signal({ data: 'still here' });
  assert.deepEqual(browser.printed.map(([level]) => level), ['error']);
  assert.equal(browser.socket.sent.at(-1).data, 'still here');
});

test('media: calls of newer versions exist and do nothing', async () => {
  const { OT, session, browser } = joined();
  await session.setEncryptionSecret('secret');
  await session.setIceConfig({ includeServers: 'all', transportPolicy: 'all', customServers: [] });
  assert.equal(OT.hasEndToEndEncryptionSupport(), false);
  await assert.rejects(OT.setAudioOutputDevice('x'), { name: 'OT_NOT_SUPPORTED' });
  await assert.rejects(OT.getActiveAudioOutputDevice(), { name: 'OT_NOT_SUPPORTED' });
  browser.mediaDevices = new FakeCamera();
  const publisher = OT.initPublisher();
  assert.deepEqual(
    [publisher.getVideoFilter(), publisher.getAudioFilter(), publisher.getVideoContentHint()], [null, null, '']
  );
  await assert.rejects(publisher.setVideoMediaProcessorConnector(null), { name: 'OT_NOT_SUPPORTED' });
  assert.equal(session.subscribe(stream, () => {}).isSubscribedToCaptions(), false);
  assert.equal(stream instanceof OT.Stream || {} instanceof OT.StreamEvent, false);
  assert.deepEqual(browser.printed, []);
  OT.setProxyUrl('https://proxy.example');
  assert.deepEqual(browser.printed.map(([level]) => level), ['warn']);
});
