import assert from 'node:assert/strict';
import test from 'node:test';
import { UserRoster } from '../../client/user-roster.js';
import { vectorFolder } from '../../test-support/vectors.js';

const connectionOf = ({ id, user }) => ({ connectionId: id, user });
const listOf = (user) => (user === null ? [] : [user]);

const ACTS = {
  entered: (roster, { connections }) => roster.enter(connections.map(connectionOf)),
  created: (roster, step) => ({ joined: listOf(roster.add(connectionOf(step))) }),
  destroyed: (roster, { id }) => ({ left: listOf(roster.remove(id)) }),
  ended: (roster) => roster.clear() ?? {},
};

for (const { name, steps } of vectorFolder('users')) {
  test(`USR-3 ${name}`, () => {
    const roster = new UserRoster();
    for (const [index, step] of steps.entries()) {
      const changes = ACTS[step.do](roster, step);
      for (const change of ['joined', 'left']) {
        if (step[change] !== undefined) assert.deepEqual(changes[change], step[change], `step ${index + 1}: ${change}`);
      }
      const users = roster.users.map(({ user, connectionIds }) => ({ user, connections: connectionIds }));
      if (step.users !== undefined) assert.deepEqual(users, step.users, `step ${index + 1}`);
    }
  });
}

/** Random histories of tabs, losses and returns, against the sets of users that the lists have. */
test('USR-3 a user who is never without a connection neither leaves nor joins', () => {
  let seed = 4711;
  const random = (limit) => (seed = (seed * 48_271) % 2_147_483_647) % limit;
  for (let round = 0; round < 2000; round += 1) {
    const roster = new UserRoster();
    const connections = new Map();
    const told = new Set();
    const usersNow = () => new Set([...connections.values()].filter((user) => user !== undefined));
    const check = ({ left = [], joined = [] }, before) => {
      const now = usersNow();
      for (const user of left) assert.ok(told.delete(user) && before.has(user) && !now.has(user), `seed 4711, ${user}`);
      for (const user of joined) assert.ok(!told.has(user) && told.add(user) && !before.has(user), `seed 4711, ${user}`);
      assert.deepEqual(told, now);
      assert.deepEqual(new Set(roster.users.map(({ user }) => user)), now);
    };
    let next = 0;
    for (let step = 0; step < 20; step += 1) {
      const before = usersNow();
      const ids = [...connections.keys()];
      switch (random(4)) {
        case 0: {
          for (const id of ids) if (random(2) === 0) connections.delete(id);
          check(roster.enter([...connections].map(([connectionId, user]) => ({ connectionId, user }))), before);
          break;
        }
        case 1: {
          const id = ids[random(ids.length + 1)];
          connections.delete(id);
          check({ left: listOf(roster.remove(id)) }, before);
          break;
        }
        default: {
          const user = [undefined, 'a', 'b', 'c'][random(4)];
          next += 1;
          connections.set(`c${next}`, user);
          check({ joined: listOf(roster.add({ connectionId: `c${next}`, user })) }, before);
        }
      }
    }
  }
});
