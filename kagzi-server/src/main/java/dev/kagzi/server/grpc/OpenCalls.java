package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Refusal;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The calls that stay open until something happens, so that a stopping server can end them. */
final class OpenCalls {

  /** A poll, an await or a stream. */
  interface OpenCall {
    /** Ends the call with the given reason, unless it has ended. */
    void end(Refusal why);
  }

  private final Set<OpenCall> calls = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  /** Keeps the call in mind. One that comes while the server stops is ended at once. */
  void add(OpenCall call) {
    calls.add(call);
    // After adding: whoever adds before this is seen by endAll, whoever adds later sees the flag.
    if (stopping && calls.remove(call)) {
      call.end(GrpcErrors.stopping());
    }
  }

  void remove(OpenCall call) {
    calls.remove(call);
  }

  /** Ends what is open and everything that is still to come. */
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
