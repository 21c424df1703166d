package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.history.HistoryFile;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The recorded history of a run with every attempt of its steps: {@link RunHandle#history}.
 *
 * <p>Write it to a file to {@linkplain Replayer replay} it with later code; {@code kagzi workflow
 * export} writes the same format. Payloads are kept as they are stored; encrypted payloads stay
 * encrypted.
 */
public final class RunHistory {
  private final HistoryFile file;

  RunHistory(HistoryFile file) {
    this.file = file;
  }

  /** Returns the state of the run when its history was fetched. */
  public RunInfo run() {
    return ProtoMapper.runInfo(file.run(), Encoded.outputOf(file.run(), JacksonCodec.DEFAULT));
  }

  /** Returns every attempt of every step, in the order in which the attempts began. */
  public List<StepInfo> steps() {
    return file.steps().stream().map(ProtoMapper::stepInfo).toList();
  }

  /** Returns the JSON that {@link #parse} reads, described in {@code docs/testing.md}. */
  public String toJson() {
    return file.json();
  }

  /**
   * Writes the JSON to a file and replaces an existing file.
   *
   * @throws UncheckedIOException if the file cannot be written
   */
  public void write(Path path) {
    try {
      Files.writeString(path, toJson() + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Parses the JSON of {@link #toJson}.
   *
   * @throws InvalidArgumentException with code {@code HISTORY_UNREADABLE} if the text is not a
   *     history, or has a format that this version does not know
   */
  public static RunHistory parse(String json) {
    return new RunHistory(HistoryFile.parse(json));
  }

  /**
   * Reads a file of {@link #write} or {@code kagzi workflow export}.
   *
   * @throws InvalidArgumentException with code {@code HISTORY_UNREADABLE} if the file is not a
   *     history, or has a format that this version does not know
   * @throws UncheckedIOException if the file cannot be read
   */
  public static RunHistory read(Path path) {
    try {
      return parse(Files.readString(path));
    } catch (InvalidArgumentException e) {
      throw new InvalidArgumentException(e.code(), path + ": " + e.getMessage());
    } catch (IOException e) {
      throw new UncheckedIOException("history: " + path + " cannot be read", e);
    }
  }

  HistoryFile file() {
    return file;
  }

  @Override
  public String toString() {
    return "history of " + file.run().getWorkflowType() + " " + file.run().getRunId();
  }
}
