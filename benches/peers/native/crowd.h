// The common parts of the programs of this folder. Each poses a crowd with another library, for the table of `benches/peers`, which compiles and starts it.
//
// Standard input has a scene, numbers with spaces between them:
//
//   number of stages (1: local poses; 2: and model matrices; 3: and skin matrices), duration of all clips, duration of a frame, in seconds
//   number of joints; of each its parent or -1, translation, rotation (x, y, z, w), scale
//   number of joints of the skin; of each its index, and its inverse bind matrix, column by column
//   number of clips; of each, joint by joint, the translations, rotations and scales: their number, and of each its time and value
//   number of instances; of each its time in each clip before the first frame, in seconds
//
// Each instance blends all clips with equal weights. After the scene come commands, each answered by a line: `frames N` poses all instances
// N times, one frame later each time; `pose I` prints the latest pose of instance I: local poses, or matrices of four columns.

#pragma once

#include <cstdlib>
#include <iostream>
#include <string>

[[noreturn]] inline void Fail(const std::string& reason) {
  std::cerr << "error: " << reason << std::endl;
  std::exit(2);
}

// The next number of the scene.
template <typename T>
T Read() {
  T value;
  if (!(std::cin >> value)) Fail("the scene on standard input ends too early, or has a word where a number is expected");
  return value;
}

// Reads a scene and carries out all commands.
template <typename Crowd>
void Serve() {
  std::ios::sync_with_stdio(false);
  std::cout.precision(9);
  Crowd crowd;
  std::cout << "ready" << std::endl;
  for (std::string command; std::cin >> command;) {
    int number = Read<int>();
    if (command == "frames") {
      for (; number > 0; --number) crowd.Frame();
      std::cout << "done" << std::endl;
    } else {
      crowd.Print(number);
    }
  }
}
