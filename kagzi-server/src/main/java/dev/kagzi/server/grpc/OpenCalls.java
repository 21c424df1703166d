package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Refusal;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The open polls, awaits and streams, so that a stopping server can end them. */
final class OpenCalls {

  interface OpenCall {
    void end(Refusal why);
  }

  private final Set<OpenCall> calls = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  /** Registers the call. If the server is stopping, ends the call at once. */
  void add(OpenCall call) {
    calls.add(call);
    // Add first, then check the flag: endAll ends a call that was added before it set the flag, and
    // a call that was added later sees the flag here.
    if (stopping && calls.remove(call)) {
      call.end(GrpcErrors.stopping());
    }
  }

  void remove(OpenCall call) {
    calls.remove(call);
  }

  /** Ends all open calls and every call that is added later. */
  void endAll() {
    stopping = true;
    for (OpenCall call : List.copyOf(calls)) {
      if (calls.remove(call)) {
        call.end(GrpcErrors.stopping());
      }
    }
  }

  int size() {
    return calls.size();
  }
}
