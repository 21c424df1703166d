package dev.kagzi.engine.worker;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import java.util.List;

/** Receives the events of an Attach stream. Engine threads call it, so it must not block. */
public interface AttachListener {
  void attached();

  void stop(List<Claim> claims, RunStatus status);

  /** Children have ended or signals have arrived: the worker can request results of steps. */
  void stepEnded(List<Claim> claims);

  /** Cancels of these runs were requested: the worker cleans up. */
  void cancelRequested(List<Claim> claims);

  void drain();

  void closed(Refusal why);
}
