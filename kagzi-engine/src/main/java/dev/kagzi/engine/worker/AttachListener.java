package dev.kagzi.engine.worker;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import java.util.List;

/** Receives the events of an Attach stream. Engine threads call it, so it must not block. */
public interface AttachListener {
  void attached();

  void stop(List<Claim> claims, RunStatus status);

  /** Children of these runs have ended: the worker can request their results. */
  void childEnded(List<Claim> claims);

  void drain();

  void closed(Refusal why);
}
