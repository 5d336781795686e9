import assert from 'node:assert/strict';
import test from 'node:test';
import { settled } from '../../test-support/fake-browser.js';
import { joined, page } from '../../test-support/fake-page.js';

const stream = { streamId: 's', connection: { connectionId: 'ada-id' } };

function outcomes() {
  const received = [];
  return { received, note: (error) => received.push([error.name, error.code]) };
}

test('media: initPublisher gives an emitter, and its handler an OT_NOT_SUPPORTED error, later', async () => {
  const { OT, exceptions, browser } = page();
  const { received, note } = outcomes();
  const publisher = OT.initPublisher('target', { insertMode: 'append' }, note);
  assert.deepEqual(received, []);
  assert.equal(publisher.on('streamCreated', () => assert.fail('called')), publisher);
  assert.ok(publisher instanceof OT.Publisher);
  await settled();
  OT.initPublisher(note);
  OT.initPublisher('target', note);
  OT.initPublisher();
  await settled();
  assert.deepEqual(received, Array(3).fill(['OT_NOT_SUPPORTED', 1500]));
  assert.deepEqual([exceptions, browser.printed], [[], []]);
});

test('media: publish and subscribe return what they do in OpenTok, and end in an error and no exception', async () => {
  const { OT, session, exceptions, browser } = joined();
  const { received, note } = outcomes();
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

test('media: publish and subscribe without a handler log a warning', () => {
  const { session, browser } = joined();
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
  assert.equal(OT.publishers.get(publisher.id), publisher);
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

test('opentok_6_3_media: calls of newer versions exist and do nothing', async () => {
  const { OT, session, browser } = joined();
  await session.setEncryptionSecret('secret');
  await session.setIceConfig({ includeServers: 'all', transportPolicy: 'all', customServers: [] });
  assert.equal(OT.hasEndToEndEncryptionSupport(), false);
  await assert.rejects(OT.setAudioOutputDevice('x'), { name: 'OT_NOT_SUPPORTED' });
  await assert.rejects(OT.getActiveAudioOutputDevice(), { name: 'OT_NOT_SUPPORTED' });
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
