// The option `publish=local`, the default: publishing succeeds, with a stream that stays in the page.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createOT } from '../../opentok/api/ot.js';
import { ada, bob, connectedMessage, FakeBrowser, settled } from '../../test-support/fakes/fake-browser.js';
import { FakeCamera, FakeTrack } from '../../test-support/fakes/fake-camera.js';
import { comeBack, joined, page, resumable, resumedMessage } from '../../test-support/fakes/fake-page.js';

/** A connected session that publishes locally, in a browser with a camera. */
function local(options = {}) {
  const all = joined(options);
  all.camera = all.browser.mediaDevices = new FakeCamera();
  all.granted = async () => {
    await settled();
    all.camera.grant();
    await settled();
  };
  return all;
}

/** A publisher with its camera, and the names of its events. */
async function shown({ OT, granted }, properties = {}) {
  const publisher = OT.initPublisher('target', properties, () => {});
  const heard = [];
  publisher.on('streamCreated streamDestroyed destroyed', ({ type, reason }) => heard.push(reason ? `${type} ${reason}` : type));
  await granted();
  return { publisher, heard };
}

const outcomeOf = (promise) => promise.then(() => 'published', ({ name, code }) => [name, code]);

test('publish=local: the handler gets no error, then the publisher emits streamCreated; nothing is sent', async () => {
  const all = local();
  const { session, browser, exceptions } = all;
  const { publisher } = await shown(all, { name: 'Bob’s camera', frameRate: 15 });
  const order = [];
  session.on('streamCreated', () => order.push('session'));
  publisher.on('streamCreated', ({ type, stream, target, cancelable }) => {
    order.push([type, stream === publisher.stream, target === publisher, cancelable]);
  });
  const given = session.publish(publisher, (error, value) => {
    order.push(['handler', error, value === publisher, session.streams.length()]);
  });
  assert.deepEqual([given === publisher, publisher.session === session, order], [true, true, []]);
  await settled();
  assert.deepEqual(order, [['handler', undefined, true, 1], ['streamCreated', true, true, false]]);
  const { stream } = publisher;
  assert.deepEqual(
    [stream.name, stream.frameRate, stream.hasAudio, stream.hasVideo, stream.videoType, stream.connection],
    ['Bob’s camera', 15, true, true, 'camera', session.connection],
  );
  assert.match(stream.streamId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual([stream.id, publisher.streamId, session.streams.get(stream.id)], [stream.streamId, stream.streamId, stream]);
  assert.equal(session.getPublisherForStream(stream), publisher);
  assert.deepEqual(session.getSubscribersForStream(stream), []);
  assert.deepEqual(exceptions, []);
  assert.equal(browser.socket.sent.length, 1, 'nothing but connect was sent');
});

test('publish=local: publish.promise is resolved with the publisher, and the program goes on to its signals', async () => {
  const all = local();
  const { session, browser } = all;
  const { publisher } = await shown(all);
  const said = [];
  assert.equal(await session.publish.promise(publisher), publisher);
  session.on('signal:msg', ({ data }) => said.push(data));
  browser.socket.receive({ ev: 'signal', seq: 3, from: 'ada-id', type: 'msg', data: 'hello' });
  assert.deepEqual(said, ['hello']);
});

test('publish=local: the console says once that other clients get no media', async () => {
  const all = local();
  const { session, browser, OT } = all;
  const publishers = [(await shown(all)).publisher, (await shown(all)).publisher];
  for (const publisher of publishers) await session.publish.promise(publisher);
  assert.equal(browser.printed.length, 1);
  assert.match(browser.printed[0].join(' '), /warn .*not sent to other clients/);
  assert.equal(OT.publishers.length(), 2);
});

test('publish=local: publish before the camera is granted waits for it', async () => {
  const { OT, session, granted } = local();
  const publisher = OT.initPublisher('target', {}, () => {});
  let state = 'pending';
  session.publish(publisher, (error) => (state = error));
  await settled();
  assert.deepEqual([state, session.streams.length()], ['pending', 0]);
  await granted();
  assert.deepEqual([state, session.streams.length()], [undefined, 1]);
});

test('publish=local: publish(target, properties, handler) asks for the camera; also without a handler, and without arguments', async () => {
  const { OT, browser, session, camera, granted } = local();
  // Each stream gets another id.
  let calls = 0;
  browser.random = () => ((calls += 1) * 0.37) % 1;
  const first = session.publish.promise('target', { videoSource: null, name: 'voice' });
  await granted();
  const publisher = await first;
  assert.deepEqual(camera.asked.at(-1), { audio: true, video: false });
  assert.ok(publisher instanceof OT.Publisher);
  const { stream } = publisher;
  assert.deepEqual([stream.hasAudio, stream.hasVideo, stream.videoType, stream.name], [true, false, undefined, 'voice']);
  assert.deepEqual(stream.videoDimensions, { width: 0, height: 0 });
  session.publish('target');
  await granted();
  const third = session.publish();
  await granted();
  assert.deepEqual([third.stream !== null, session.streams.length()], [true, 3]);
});

test('publish=local: a publisher of the page’s own tracks needs no camera', async () => {
  const { OT, session } = local();
  globalThis.MediaStream ??= class {
    constructor(tracks) { this.tracks = tracks; }
    getTracks() { return this.tracks; }
    getAudioTracks() { return []; }
    getVideoTracks() { return this.tracks; }
  };
  const track = new FakeTrack('video');
  const publisher = await OT.initPublisher.promise('target', { videoSource: track, audioSource: null });
  await session.publish.promise(publisher);
  assert.deepEqual([publisher.stream.hasAudio, publisher.stream.videoType], [false, 'custom']);
});

test('publish=local: without a camera, or when the user refuses, publish fails with the publisher’s error', async () => {
  const { OT, session, browser, camera } = local();
  let given;
  const publisher = OT.initPublisher('target', {}, (error) => (given = error));
  const published = session.publish.promise(publisher);
  await settled();
  camera.refuse('NotAllowedError');
  assert.deepEqual(await outcomeOf(published), ['OT_USER_MEDIA_ACCESS_DENIED', 1500]);
  assert.equal(await session.publish.promise(publisher).catch((error) => error), given, 'a second time, too');
  assert.equal(publisher.session, null);
  browser.mediaDevices = new FakeCamera([]);
  assert.deepEqual(await outcomeOf(session.publish.promise('target')), ['OT_NO_DEVICES_FOUND', 1500]);
  assert.deepEqual(await outcomeOf(session.publish.promise(null, { audioSource: null, videoSource: null })), [
    'OT_NO_VALID_CONSTRAINTS', 1500,
  ]);
  assert.deepEqual([session.streams.length(), browser.printed], [0, []]);
  session.publish('target');
  await settled();
  assert.deepEqual(browser.printed.map(([level]) => level), ['warn'], 'without a handler the log has the error, once');
});

test('publish=local: unpublish emits streamDestroyed on the publisher, which is destroyed unless the program prevents that', async () => {
  const all = local();
  const { session, camera } = all;
  const { publisher, heard } = await shown(all);
  await session.publish.promise(publisher);
  const { stream } = publisher;
  publisher.once('streamDestroyed', (event) => {
    assert.deepEqual([event.stream, event.cancelable, publisher.stream, session.streams.length()], [stream, true, null, 0]);
    event.preventDefault();
  });
  session.unpublish(publisher);
  assert.deepEqual(heard, ['streamCreated', 'streamDestroyed unpublished']);
  assert.deepEqual([publisher.session, publisher.streamId, session.getPublisherForStream(stream)], [null, undefined, undefined]);
  assert.equal(camera.streams[0].getTracks().some((track) => track.isStopped), false, 'its camera stays on');
  await session.publish.promise(publisher);
  assert.notEqual(publisher.stream.id, undefined);
  session.unpublish(publisher);
  assert.deepEqual(heard.slice(2), ['streamCreated', 'streamDestroyed unpublished', 'destroyed']);
  assert.equal(camera.streams[0].getTracks().every((track) => track.isStopped), true);
  session.unpublish(publisher);
  session.unpublish();
});

for (const [name, leave, reason] of [
  ['disconnect', ({ session }) => session.disconnect(), 'clientDisconnected'],
  ['a moderator', ({ browser }) => browser.socket.receive({ ev: 'disconnected', reason: 'forceDisconnected', reconnect: false }), 'forceDisconnected'],
  ['a lost connection', ({ browser }) => browser.socket.drop(), 'networkDisconnected'],
  ['destroy', ({ session }) => session.destroy(), 'clientDisconnected'],
]) {
  test(`publish=local: ${name} ends the stream, after sessionDisconnected`, async () => {
    const all = local();
    const { session } = all;
    const { publisher, heard } = await shown(all);
    await session.publish.promise(publisher);
    session.on('sessionDisconnected', () => heard.push('sessionDisconnected'));
    leave(all);
    assert.deepEqual([session.streams.length(), publisher.stream, heard.length], [0, null, 1]);
    await settled();
    assert.deepEqual(heard.slice(1), ['sessionDisconnected', `streamDestroyed ${reason}`, 'destroyed']);
  });
}

test('publish=local: publishing that has no stream yet fails when it is unpublished, destroyed, or the session is left', async () => {
  for (const stop of [
    ({ session }, publisher) => session.unpublish(publisher),
    (_, publisher) => publisher.destroy(),
    ({ session }) => session.disconnect(),
  ]) {
    const all = local();
    const publisher = all.OT.initPublisher('target', {}, () => {});
    publisher.on('streamCreated streamDestroyed', () => assert.fail('there was no stream'));
    const published = outcomeOf(all.session.publish.promise(publisher));
    await settled();
    stop(all, publisher);
    assert.deepEqual(await published, ['OT_MEDIA_ERR_ABORTED', 1500]);
    all.camera.grant();
    await settled();
    assert.deepEqual([all.session.streams.length(), all.OT.publishers.length()], [0, 0]);
    assert.equal(all.camera.streams[0].getTracks().every((track) => track.isStopped), true, 'the camera is off');
  }
});

test('publish=local: a destroyed publisher loses its stream, and cannot be published again', async () => {
  const all = local();
  const { session } = all;
  const { publisher, heard } = await shown(all);
  await session.publish.promise(publisher);
  publisher.destroy();
  assert.deepEqual([heard, session.streams.length(), publisher.session], [['streamCreated', 'destroyed'], 0, null]);
  assert.deepEqual(await outcomeOf(session.publish.promise(publisher)), ['OT_MEDIA_ERR_ABORTED', 1500]);
});

test('publish=local: a handler may unpublish at once: streamCreated is not emitted', async () => {
  const all = local();
  const { session } = all;
  const { publisher, heard } = await shown(all);
  publisher.on('streamDestroyed', (event) => event.preventDefault());
  session.publish(publisher, () => session.unpublish(publisher));
  await settled();
  assert.deepEqual(heard, ['streamDestroyed unpublished']);
});

test('publish=local: unpublish right after publish leaves no stream', async () => {
  const all = local();
  const { session } = all;
  const { publisher, heard } = await shown(all);
  const published = outcomeOf(session.publish.promise(publisher));
  session.unpublish(publisher);
  assert.deepEqual(await published, ['OT_MEDIA_ERR_ABORTED', 1500]);
  await settled();
  assert.deepEqual([heard, session.streams.length(), publisher.stream], [['destroyed'], 0, null]);
});

test('publish=local: a second publish warns, has the outcome of the first, and makes no second stream', async () => {
  const all = local();
  const { session, browser, granted, OT } = all;
  const publisher = OT.initPublisher('target', {}, () => {});
  const both = [session.publish.promise(publisher), session.publish.promise(publisher)];
  await granted();
  assert.deepEqual(await Promise.all(both), [publisher, publisher]);
  assert.equal(await session.publish.promise(publisher), publisher);
  assert.equal(session.streams.length(), 1);
  assert.equal(browser.printed.filter(([, text]) => /Call unpublish first/.test(text)).length, 2);
  const other = OT.initSession('100', '1_other');
  other.connect('T1==');
  browser.socket.open();
  browser.socket.receive(connectedMessage());
  assert.deepEqual(await outcomeOf(other.publish.promise(publisher)), ['OT_INVALID_PARAMETER', 1500]);
});

test('publish=local: refused while not connected, and without the capability to publish; no camera is asked for', async () => {
  const { OT, session, browser, exceptions } = page();
  const camera = browser.mediaDevices = new FakeCamera();
  assert.deepEqual(await outcomeOf(session.publish.promise('target')), ['OT_NOT_CONNECTED', 1010]);
  const subscriber = joined({ changes: { capabilities: { publish: 0, subscribe: 1 } } });
  assert.deepEqual(await outcomeOf(subscriber.session.publish.promise()), ['OT_PERMISSION_DENIED', 1500]);
  assert.ok(session.publish('target', () => {}) instanceof OT.Publisher);
  assert.deepEqual([camera.asked, exceptions], [[], []]);
});

test('publish=local: publishAudio and publishVideo change the stream, and the session emits streamPropertyChanged', async () => {
  const all = local();
  const { session } = all;
  const { publisher } = await shown(all, { publishVideo: false });
  await session.publish.promise(publisher);
  assert.deepEqual([publisher.stream.hasAudio, publisher.stream.hasVideo], [true, false]);
  const changes = [];
  session.on('streamPropertyChanged', ({ stream, changedProperty, oldValue, newValue }) => {
    changes.push([stream === publisher.stream, changedProperty, oldValue, newValue]);
  });
  publisher.publishVideo(true).publishAudio(true);
  await publisher.publishAudio.promise(false);
  assert.deepEqual(changes, [[true, 'hasVideo', false, true], [true, 'hasAudio', true, false]]);
});

test('publish=local: after a reconnect as another connection the stream belongs to that one', async () => {
  const all = local({ changes: resumable });
  const { session, browser } = all;
  const { publisher } = await shown(all);
  await session.publish.promise(publisher);
  comeBack(browser);
  const cy = { ...bob, connectionId: 'cy-id' };
  browser.socket.receive(resumedMessage(2, { outcome: 'recovered', connection: cy, connections: [ada, cy] }));
  assert.equal(session.connection.connectionId, 'cy-id');
  assert.deepEqual([publisher.stream.connection, session.streams.length()], [session.connection, 1]);
});

test('publish=local: the script, OT.setServer and initSession can name it; the session’s own counts first', async () => {
  const browser = new FakeBrowser();
  const connected = (OT, id, options) => {
    const session = OT.initSession('100', id, options);
    session.connect('T1==');
    browser.socket.open();
    browser.socket.receive(connectedMessage());
    return session;
  };
  browser.mediaDevices = new FakeCamera([]);
  // Without devices, a local publisher fails with an error of its own.
  const nameOf = async (session) => (await outcomeOf(session.publish.promise()))[0];
  const server = 'https://signals.example';
  const plain = createOT(browser.environment(), server);
  const session = connected(plain, '1_a');
  assert.equal(await nameOf(session), 'OT_NO_DEVICES_FOUND', 'the default');
  const scripted = createOT({ ...browser.environment(), scriptPublish: 'fail' }, server);
  assert.equal(await nameOf(connected(scripted, '1_b')), 'OT_NOT_SUPPORTED');
  assert.equal(await nameOf(connected(scripted, '1_c', { publish: 'local' })), 'OT_NO_DEVICES_FOUND');
  assert.equal(await nameOf(connected(plain, '1_d', { publish: 'fail' })), 'OT_NOT_SUPPORTED');
  assert.equal(await nameOf(session), 'OT_NO_DEVICES_FOUND', 'another session’s option is its own');
  plain.setServer(server, { publish: 'fail' });
  assert.equal(await nameOf(session), 'OT_NOT_SUPPORTED');
  assert.deepEqual(browser.printed, []);
});

test('publish=local: an unknown value is reported once with its text, and ignored', async () => {
  const browser = new FakeBrowser();
  const OT = createOT({ ...browser.environment(), scriptPublish: 'locale' }, 'https://signals.example');
  const connected = OT.initSession('100', '1_x');
  assert.deepEqual(browser.printed.map(([level, text]) => [level, /publish=locale /.test(text)]), [['warn', true]]);
  OT.setServer('https://signals.example', { publish: 'locale' });
  OT.initSession('100', '1_z', { publish: 'locale' });
  assert.equal(browser.printed.length, 1);
  OT.setServer('https://signals.example', { publish: 'yes' });
  OT.initSession('100', '1_y', { publish: null });
  assert.equal(browser.printed.length, 2);
  assert.equal((await outcomeOf(connected.publish.promise()))[0], 'OT_NOT_CONNECTED', 'publish would start a stream');
});

test('publish=local: a value that ignores an option leaves the option in force', async () => {
  const { OT, session, browser } = local({ publish: 'x' });
  OT.setServer('https://signals.example', { publish: 'fail' });
  OT.setServer('https://signals.example', { publish: 'y' });
  session.publish(null, { audioSource: null, videoSource: null }, (error) => browser.printed.push(error.name));
  await settled();
  assert.equal(browser.printed.at(-1), 'OT_NOT_SUPPORTED');
});
