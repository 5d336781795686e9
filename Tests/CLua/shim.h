#ifndef SIGNALBOX_CLUA_H
#define SIGNALBOX_CLUA_H

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <lua5.1/lualib.h>

/* Only what Swift cannot import: macros. */

static inline int signalbox_lua_upvalue(int index) { return lua_upvalueindex(index); }
static inline void signalbox_lua_set_global(lua_State *lua, const char *name) { lua_setglobal(lua, name); }
static inline void signalbox_lua_get_global(lua_State *lua, const char *name) { lua_getglobal(lua, name); }
static inline void signalbox_lua_pop(lua_State *lua, int count) { lua_pop(lua, count); }

#endif
