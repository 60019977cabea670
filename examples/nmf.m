% A program that keeps to nmfcheck's command protocol: cmd:"octave-cli -q examples/nmf.m".
% It needs Octave 7 or newer, which has jsondecode and jsonencode.
%
% It reads one JSON object a line, {"id", "A", "rank", "W0", "H0", "seed"}, and answers each with a
% line {"id", "W", "H"}. Anything that is not an answer goes to standard error.
1;
crash_dumps_octave_core (false);  % leave no file behind, however it is ended

% Minimise ||A - WH|| over one row of H after the other, keeping it nonnegative.
function H = descend (A, W, H)
  gram = W' * W;
  target = W' * A;
  for k = 1:rows (H)
    if gram(k, k) > 0
      H(k, :) = max (H(k, :) + (target(k, :) - gram(k, :) * H) / gram(k, k), 0);
    end
  end
end

% Cyclic coordinate descent (HALS) from W, H.
function [W, H] = factorize (A, W, H)
  for i = 1:2000
    H = descend (A, W, H);
    W = descend (A', H', W')';
  end
end

% A matrix as rows of numbers with all their digits, whatever its shape.
function text = as_json (X)
  lines = cell (1, rows (X));
  for i = 1:rows (X)
    lines{i} = ["[" strjoin(arrayfun (@(x) sprintf ("%.17g", x), X(i, :), "UniformOutput", false), ",") "]"];
  end
  text = ["[" strjoin(lines, ",") "]"];
end

% jsondecode turns [[1]] into a number and [[1,2]] into a row or a column: make it a matrix again.
function X = as_matrix (value, m, n)
  X = reshape (value, m, n);
end

% Not fgetl: it waits for the line after the one it returns.
function line = read_line ()
  try
    line = input ("", "s");
  catch
    line = -1;  % the end of the input
  end
end

while ischar (line = read_line ())
  request = jsondecode (line);
  try
    k = request.rank;
    A = request.A;
    W0 = as_matrix (request.W0, rows (A), k);
    H0 = as_matrix (request.H0, k, columns (A));
    [W, H] = factorize (A, W0, H0);
    printf ("{\"id\":%d,\"W\":%s,\"H\":%s}\n", request.id, as_json (W), as_json (H));
  catch failure
    printf ("%s\n", jsonencode (struct ("id", request.id, "error", failure.message)));
  end
  fflush (stdout);
end
