/// A leg of three joints and an End Site.
pub const LEG: &str = "HIERARCHY
ROOT Hips
{
\tOFFSET 1.0 2.0 3.0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Upper Leg
\t{
\t\tOFFSET 0 -4 0
\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\tJOINT Foot
\t\t{
\t\t\tOFFSET 0 -5 0
\t\t\tCHANNELS 1 Xrotation
\t\t\tEnd Site
\t\t\t{
\t\t\t\tOFFSET 0 0 2
\t\t\t}
\t\t}
\t}
}
MOTION
Frames: 2
Frame Time: 0.5
0 10 0 0 0 0 90 0 0 0
2 10 0 90 0 0 90 90 0 -90
";
